"""What each metric of the package asks, for the page."""

QUESTIONS = {
    "maskeval": "How well does each text predict the words of the other?",
    "cloze": "Are its facts what the source would fill in?",
    "simplicity": "Is it close to good simplifications, simple words counting more?",
    "speed": "Does each sentence mean what a sentence of the other text means?",
    "sumqe": "Is it grammatical, without repetition, clear, focused and coherent?",
    "bertscore": "Does each token have a counterpart in a reference?",
    "likelihood": "How probable does the source make it for a language model?",
    "moverscore": "How far must its words move to those of a reference?",
    "sms": "How far must its sentences move to those of a reference?",
    "meteor": "Which words and stems does it share with a reference, and in which order?",
    "rouge": "Which word sequences does it share with a reference?",
    "bleu": "Which n-grams of words does it share with a reference?",
    "chrf": "Which n-grams of characters does it share with a reference?",
    "sari": "Are the right words kept, added and deleted?",
    "length_ratio": "How long is it, relative to the source?",
    "novelty": "How many of its word pairs are new?",
    "extractive": "How much of it is copied from the source?",
}
"""By the metric's name; metrics of other packages have none."""
