"""Token ids, never text: the ledger of a conversation and the renderers that build prompts and bridges."""

from raas_sdk.tokens.alignment import check_segment
from raas_sdk.tokens.ledger import Ledger
from raas_sdk.tokens.loading import load_renderer
from raas_sdk.tokens.renderer import Renderer
from raas_sdk.tokens.template_renderer import TemplateRenderer

__all__ = ["Ledger", "Renderer", "TemplateRenderer", "check_segment", "load_renderer"]
