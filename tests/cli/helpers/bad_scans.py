"""Files as they go wrong in a lab, made from nothing but the standard library: bad_scans.py FOLDER.
FOLDER/scans holds one good scan among bad ones; FOLDER/models holds what is no model."""

import gzip
import io
import os
import pickle
import struct
import sys
import zipfile
from pathlib import Path

SIZE = 16


def nifti(shape=(SIZE, SIZE, SIZE), spacing=(12.0, 12.0, 12.0), affine=None, volumes=1, kind=4, values=None):
    """A NIfTI-1 file; an affine of three rows becomes the sform. Kind 4 is int16, 16 is float32."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 4 if volumes > 1 else 3, *shape, volumes, 1, 1, 1)
    struct.pack_into("<2h", header, 70, kind, 32 if kind == 16 else 16)
    struct.pack_into("<8f", header, 76, 1, *spacing, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    if affine:
        struct.pack_into("<h", header, 254, 1)
        struct.pack_into("<12f", header, 280, *[number for row in affine for number in row])
    header[344:348] = b"n+1\0"
    count = shape[0] * shape[1] * shape[2] * volumes
    values = values or [(i * 37) % 1000 for i in range(count)]
    return bytes(header) + struct.pack(f"<{len(values)}{'f' if kind == 16 else 'h'}", *values)


def bomb():
    """A gzip file of 400 KB that says it holds 351 MB, and would."""
    zeros = gzip.compress(bytes(1 << 20), mtime=0)
    return gzip.compress(nifti(shape=(560, 560, 560), values=[0])[:352], mtime=0) + 400 * zeros


def scans():
    whole = nifti()
    packed = gzip.compress(whole, mtime=0)
    floats = [1.0] * SIZE**3
    floats[5], floats[9] = float("nan"), float("inf")
    skewed = [(1e30, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)]
    singular = [(8, 8, 0, 0), (8, 8, 0, 0), (0, 0, 8, 0)]
    return {
        "good.nii.gz": packed,
        "absurd_affine.nii": nifti(affine=skewed),
        "bomb.nii.gz": bomb(),
        "cut_header.nii": whole[:200],
        "cut_short.nii.gz": packed[: len(packed) // 2],
        "flat_affine.nii": nifti(affine=singular),
        "four_d.nii.gz": gzip.compress(nifti(volumes=3), mtime=0),
        "infinite.nii": nifti(kind=16, values=floats),
        "no_nifti.nii": b"subject,volume\n" * 60,
        "no_spacing.nii": nifti(spacing=(0.0, 1.0, 1.0)),
        "one_voxel.nii": nifti(shape=(1, 1, 1)),
    }


class Shell:
    def __reduce__(self):
        return os.system, ("touch run_by_the_model",)


def torch_file(content) -> bytes:
    """As PyTorch lays its files out; enough to reach the pickle."""
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("net/data.pkl", pickle.dumps(content, protocol=2))
        archive.writestr("net/version", "3\n")
    return result.getvalue()


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "scans").mkdir(parents=True)
    (folder / "models").mkdir()
    (folder / "empty").mkdir()
    for name, content in scans().items():
        (folder / "scans" / name).write_bytes(content)
    (folder / "models" / "code.pt").write_bytes(torch_file({"model_state_dict": Shell()}))
    (folder / "models" / "page.pt").write_text("<!DOCTYPE html><html>404</html>")
    (folder / "constant.nii").write_bytes(nifti(values=[5] * SIZE**3))
    (folder / "small_mask.nii").write_bytes(nifti(shape=(5, 5, 5), values=[1] * 125))


if __name__ == "__main__":
    main()
