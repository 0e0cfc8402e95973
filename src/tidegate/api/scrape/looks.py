"""Looking at what a scrape tells of restores, verifications and volumes: by the server's own figures, if any."""

from tidegate.api.services import Services
from tidegate.decide.server.scrape_figures import KINDS, ScrapeFigures
from tidegate.model.kinds import kind_name


async def scrape_figures(services: Services) -> ScrapeFigures:
    """Where the server keeps them, nothing is read."""
    if services.scrapes is not None:
        return services.scrapes
    figures = ScrapeFigures()
    for kind in KINDS:
        figures.replace_all(kind_name(kind), (await services.store.list(kind)).items)
    return figures
