"""Type aliases for objects of libraries that give no usable types."""

from typing import Any, TypeAlias

Model: TypeAlias = Any
"""A model of transformers, a part of one, or a converted OpenVINO model. The Auto classes of transformers
return a class chosen at run time, and OpenVINO's classes are compiled, so neither has a static type."""
Tokenizer: TypeAlias = Any
"""A fast tokenizer of transformers. AutoTokenizer returns a class chosen at run time; the base class does not
declare `backend_tokenizer`, which every fast tokenizer has."""
Config: TypeAlias = Any
"""A configuration of transformers. Its attributes differ between model families and are not declared."""
Encoding: TypeAlias = Any
"""The result of tokenizing one text with the `tokenizers` library, whose compiled classes have no types."""
Outputs: TypeAlias = Any
"""One tensor, or a tuple of tensors; the submodule decides which."""
Module: TypeAlias = Any
"""An imported optional library without type stubs, such as OpenVINO."""
