"""Format scores and reports as text, data frames and HTML; independent of metrics."""
