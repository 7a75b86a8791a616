"""A network as the prediction model sees it, from TOML, the collection or a machine profile.

Model: Sancho et al., section 4.2 (after Bell et al. 2003): a message of `size` bytes takes
EEL + G * size; g is the gap between two small messages; o the overhead that one message costs
the processor that sends it, and that which receives it (LogGP). No contention.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.formats.toml import BANDWIDTH, AnyOf, Key, Keys, Quantity, Table, TomlFile
from imbrex.formats.value_types import Number, Text, Whole
from imbrex.network.reading import load

NETWORK = Keys(
    "the network",
    (
        Key("name", Text()),
        Key("latency", Quantity(), "EEL, end to end, of a small message"),
        Key("bandwidth", BANDWIDTH, "1/G"),
        Key("message_gap", Quantity(), "g", "0"),
        Key("overhead", Quantity(), "o of the processor that sends", "0"),
        Key("receive_overhead", Quantity(), "o of the processor that receives", "0"),
        Key(
            "eager_limit_bytes",
            Whole(0, 1 << 62),
            "above it a message waits for its receive",
            "as the run's library does, else 65536",
        ),
        Key("price", Number(0, 1e15), "what it costs, where somebody stated it"),
        Key("currency", Text(), "of the price", "USD"),
        Key("year", Whole(1900, 9999), "of the figures"),
        Key("source", Text(), "of the figures", "the file"),
    ),
)
_LEAST_S = 1e-12
_FILE = Keys("the file of networks", (Key("network", AnyOf("array of tables"), "networks"),))


@dataclass(frozen=True)
class Interconnect:
    """A network: seconds, bytes per second. `eager_limit_bytes` and `price` only where
    somebody stated them."""

    name: str
    latency_s: float
    bandwidth_bytes_per_s: float
    message_gap_s: float = 0.0
    overhead_s: float = 0.0
    receive_overhead_s: float = 0.0
    eager_limit_bytes: int | None = None
    price: float | None = None
    currency: str = ""
    year: int | None = None
    source: str = ""
    sizes: tuple[tuple[float, float], ...] = ()
    """Of a measured network, bytes ascending and what a message of them takes beyond EEL, in s."""

    def of_size(self, size_bytes: float) -> Interconnect:
        """As a message of this size finds it: with the bandwidth that it has there."""
        if not self.sizes or size_bytes <= 0:
            return self
        time_s = time_of_size(self.sizes, size_bytes)
        return replace(self, bandwidth_bytes_per_s=size_bytes / max(time_s, _LEAST_S))

    @property
    def gap_s_per_byte(self) -> float:
        """G, the reciprocal of the bandwidth."""
        return 1.0 / self.bandwidth_bytes_per_s

    def to_json(self) -> dict[str, Any]:
        """Plain values for `--json` (seconds and bytes)."""
        return {
            "name": self.name,
            "latency_s": self.latency_s,
            "bandwidth_bytes_per_s": self.bandwidth_bytes_per_s,
            "message_gap_s": self.message_gap_s,
            "overhead_s": self.overhead_s,
            "receive_overhead_s": self.receive_overhead_s,
            "eager_limit_bytes": self.eager_limit_bytes,
            "price": self.price,
            "currency": self.currency,
            "year": self.year,
            "source": self.source,
        }


def time_of_size(sizes: tuple[tuple[float, float], ...], size_bytes: float) -> float:
    """What a message takes beyond EEL, in s: a line between two known sizes, from nothing, which
    goes on beyond the last. `sizes` as in `Interconnect`, not empty.

    What a network lets pass ahead of its rate it does once. In proportion where the last two sizes
    took the same time.
    """
    below, least_s, slope = 0.0, 0.0, 0.0
    for size, time_s in sizes:
        slope = (time_s - least_s) / (size - below)
        if size_bytes <= size:
            break
        below, least_s = size, time_s
    else:
        if slope <= 0:
            return least_s * size_bytes / below
    return least_s + (size_bytes - below) * slope


def interconnect_from_table(table: Table) -> Interconnect:
    """One `[[network]]` table; ImbrexError naming line and key if it cannot be one."""
    name = table.text("name")
    latency_s = table.quantity("latency")
    if table.unit_key("bandwidth") is None:
        table.fail(
            None,
            f"the network '{name}' has no bandwidth: "
            "give 'bandwidth_mb_per_s', 'bandwidth_gb_per_s' or 'bandwidth_gbit_per_s'",
        )
    price = table.number("price") if table.has("price") else None
    if table.has("currency") and price is None:
        table.fail("currency", f"the network '{name}' has a currency but no price")
    limit = table.count("eager_limit_bytes") if table.has("eager_limit_bytes") else None
    result = Interconnect(
        name=name,
        latency_s=latency_s,
        bandwidth_bytes_per_s=table.quantity("bandwidth"),
        message_gap_s=table.quantity("message_gap", 0.0),
        overhead_s=table.quantity("overhead", 0.0),
        receive_overhead_s=table.quantity("receive_overhead", 0.0),
        eager_limit_bytes=limit,
        price=price,
        currency=table.text("currency", "USD") if price is not None else "",
        year=table.count("year") if table.has("year") else None,
        source=table.text("source", f"given in {table.file.name}"),
    )
    table.done(name)
    return result


def interconnects_from_tables(tables: list[Table]) -> list[Interconnect]:
    """All `[[network]]` tables of a file; two of one name contradict each other."""
    networks: list[Interconnect] = []
    for table in tables:
        network = interconnect_from_table(table)
        if any(network.name == other.name for other in networks):
            table.fail("name", f"there are two networks of the name '{network.name}'")
        networks.append(network)
    return networks


def collection() -> list[Interconnect]:
    """The networks with public figures that come with Imbrex."""
    name = "interconnects.toml"
    text = resources.files("imbrex.network").joinpath(name).read_text(encoding="utf-8")
    return interconnects_from_tables(
        TomlFile.parse(text, name).table(_FILE).tables("network", NETWORK)
    )


def _from_profile(path: Path) -> list[Interconnect]:
    """The paths of a machine profile as networks, through their LogGP fit."""
    profile = load(path)
    label = f"{profile.library_name} {profile.library_version}".strip()
    networks: list[Interconnect] = []
    # The slower path first: it is the one that a prediction is about.
    for name in ("inter-node", "intra-node"):
        loggp = profile.paths[name].loggp if name in profile.paths else None
        if loggp is None:
            continue
        gap = loggp.G_s_per_byte
        if not 1 / BANDWIDTH.high <= gap <= 1 / BANDWIDTH.low:
            raise ImbrexError(
                f"{path}: paths.{name}.loggp gives no usable bandwidth (G_s_per_byte = {gap:g}); "
                "run imbrex calibrate again"
            )
        networks.append(
            Interconnect(
                name=f"{path.stem}: {name}",
                latency_s=loggp.EEL_s,
                bandwidth_bytes_per_s=1.0 / gap,
                message_gap_s=loggp.g_s,
                overhead_s=loggp.o_s_s,
                receive_overhead_s=loggp.o_r_s,
                source=f"machine profile {path.name}, {label}",
            )
        )
    if not networks:
        raise ImbrexError(
            f"{path}: no path between two ranks has LogGP parameters; "
            "run imbrex calibrate with two ranks"
        )
    return networks


def load_interconnects(name: str) -> list[Interconnect]:
    """Networks by the name in the collection, from a TOML file, or from a machine profile.

    A name matches without regard to case; "all" is the whole collection.
    Errors: ImbrexError for an unknown name, an unreadable or an invalid file.
    """
    path = Path(name)
    if path.suffix == ".json":
        return _from_profile(path)
    if path.suffix == ".toml":
        root = TomlFile.read(path).table(_FILE)
        networks = interconnects_from_tables(root.tables("network", NETWORK))
        if not networks:
            root.fail(None, "there is no [[network]] in this file")
        return networks
    known = collection()
    if name.lower() == "all":
        return known
    found = [network for network in known if network.name.lower() == name.lower()]
    if not found:
        names = ", ".join(network.name for network in known)
        raise ImbrexError(
            f"no network '{name}': give a .toml file, a machine profile (.json), 'all', "
            f"or one of {names}"
        )
    return found
