"""Moves weights between an ONNX export of a BERT encoder and plain arrays, without torch.

python training/weights.py pack MODEL.onnx OUT_DIR --part-mib 40    an ONNX file as 16-bit parts that travel well
python training/weights.py unpack OUT_DIR MODEL.onnx                and back (32-bit)
python training/weights.py mean NEW.npz [NEW.npz ...] OLD.npz OUT.npz --share .75  the mean of states of a training
python training/weights.py export STUDENT.npz MODEL.onnx [--fp32]   an embedder as the graph that pincite runs (int8)
python training/weights.py export-reader READER.npz MODEL.onnx      a reader as the graph that pincite runs
python training/weights.py import-reader MODEL.onnx READER.npz      and back, to continue its training (as rounded)
"""

from __future__ import annotations

import argparse
import glob
import hashlib
import os
from pathlib import Path

import numpy as np


def matmul_names(model) -> dict[str, str]:
    """Initialiser name -> parameter name. Exporters leave MatMul weights anonymous; the node's name tells."""
    initialisers = {tensor.name for tensor in model.graph.initializer}
    names = {}
    for node in model.graph.node:
        if node.op_type == "MatMul":
            for name in node.input:
                if name in initialisers:
                    names[name] = node.name.strip("/").removesuffix("/MatMul").replace("/", ".") + ".weight"
    return names


def load(path: str) -> dict[str, np.ndarray]:
    """Parameters by their usual BERT names, linear weights as (out, in) like torch's."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    anonymous = matmul_names(model)
    found = {}
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if tensor.name in anonymous:
            found[anonymous[tensor.name]] = np.ascontiguousarray(array.T)
        elif array.dtype == np.float32:
            found[tensor.name] = array
    return found


def reader_tensors(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A reader's weights by their usual BERT names."""
    tensors = {}
    for name, array in found.items():
        if ".attention.self.qkv." in name:
            parts = zip(("query", "key", "value"), np.split(array, 3), strict=True)
            tensors |= {f"encoder.{name}".replace("qkv", part): one for part, one in parts}
        else:
            tensors[f"encoder.{name}" if name.startswith("layer.") else name] = array
    return tensors


def export(weights: str, path: str, int8: bool, reader: bool) -> None:
    """The graph of a sentence encoder or a reader with these weights; it takes one text at a time."""
    from pincite.models.bert_graph import build, build_reader

    tensors = {name: array.astype(np.float32) for name, array in np.load(weights).items()}
    if reader:
        data = build_reader(reader_tensors(tensors), "pincite-read", int8=int8)
    else:
        data = build(tensors, "pincite-embed", int8=int8)
    Path(path).write_bytes(data)
    print(f"{path}: {len(data) / 1e6:.1f} MB, sha256 {hashlib.sha256(data).hexdigest()}")


def reader_names(layers: int) -> list[str]:
    """A reader's weights in the order in which `build_reader` writes them."""
    types, words, places = (f"embeddings.{name}_embeddings" for name in ("token_type", "word", "position"))
    names = [f"{types}.weight", f"{words}.weight", f"{places}.weight"]
    names += ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    order = ("attention.self.qkv", "attention.output.dense", "attention.output.LayerNorm")
    order += ("intermediate.dense", "output.dense", "output.LayerNorm")
    parts = [f"layer.{at}.{part}" for at in range(layers) for part in order]
    parts += [f"head.{part}" for part in ("span", "weigh", "pool", "judge")]
    return names + [f"{part}.{kind}" for part in parts for kind in ("weight", "bias")]


def import_reader(path: str, out: str) -> None:
    """The state of an exported reader. Rounded weights stay rounded; what training adds is kept in 32 bits."""
    import onnx
    from onnx import numpy_helper

    arrays = [numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer]
    kept = [array for array in arrays if (array.dtype == np.float32 and array.ndim) or array.ndim == 2]
    names = iter(reader_names(sum(array.dtype == np.int8 for array in kept) // 4))
    state, rest = {}, iter(kept)
    for array in rest:
        name = next(names)
        linear = name.endswith(".weight") and array.ndim == 2 and "embeddings" not in name
        if array.dtype == np.int8:
            array = array.astype(np.float32) * next(rest)
        state[name] = array.T if linear else array
    if next(names, None) is not None:
        raise SystemExit(f"{path}: not a reader exported by this script")
    np.savez(out, **state)


def pack(path: str, folder: str, part: int) -> None:
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.size > 1000:
            tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float16), tensor.name))
    data = model.SerializeToString()
    os.makedirs(folder, exist_ok=True)
    for number, at in enumerate(range(0, len(data), part)):
        with open(os.path.join(folder, f"teacher.part{number}"), "wb") as file:
            file.write(data[at : at + part])


def unpack(folder: str, path: str) -> None:
    import onnx
    from onnx import numpy_helper

    data = b"".join(Path(name).read_bytes() for name in sorted(glob.glob(os.path.join(folder, "teacher.part*"))))
    model = onnx.load_from_string(data)
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float16:
            tensor.CopyFrom(numpy_helper.from_array(array.astype(np.float32), tensor.name))
    onnx.save(model, path)


def mean(new: list[str], old: str, path: str, share: float) -> None:
    """The mean of new states of one model, and of that and an old one, which has the rest of the weight."""
    states = [{name: array.astype(np.float32) for name, array in np.load(file).items()} for file in (*new, old)]
    before = states.pop()
    made = {
        name: share * sum(one[name] for one in states) / len(states) + (1 - share) * before[name] for name in before
    }
    np.savez(path, **{name: array.astype(np.float16) for name, array in made.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pack", "unpack", "mean", "export", "export-reader", "import-reader"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--share", type=float, default=0.75, help="mean: weight of the new files")
    parser.add_argument("--part-mib", type=int, default=40)
    parser.add_argument("--fp32", action="store_true", help="export: without rounding to int8")
    options = parser.parse_args()
    if options.what == "pack":
        pack(*options.paths, options.part_mib * 2**20)
    elif options.what == "mean":
        *new, old, path = options.paths
        mean(new, old, path, options.share)
    elif options.what == "unpack":
        unpack(*options.paths)
    elif options.what == "import-reader":
        import_reader(*options.paths)
    else:
        export(*options.paths, not options.fp32, options.what == "export-reader")


if __name__ == "__main__":
    main()
