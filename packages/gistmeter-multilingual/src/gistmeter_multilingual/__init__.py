"""The files of multilingual-e5-small for ten languages, in the folder `model`."""
