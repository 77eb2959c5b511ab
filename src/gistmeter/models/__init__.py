"""Models: loading, running, and the adapters that metrics use. Scoring code imports torch only here."""
