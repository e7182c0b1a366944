"""Prints, for each ONNX file named, milliseconds of processor time on one core for a text of 200 tokens and for a query
of 14, as JSON: {"file": [passage, query]}. With --without-amx the kernel refuses this process the processor's matrix
tiles, so that ONNX Runtime multiplies with AVX-512's products of bytes."""
import ctypes
import json
import resource
import struct
import sys


def refuse_tiles():
    load, equal, give = 0x20, 0x15, 0x06
    arch_prctl, request, eperm, allow = 158, 0x1023, 0x00050001, 0x7FFF0000  # ARCH_REQ_XCOMP_PERM
    filter = [(load, 0, 0, 0), (equal, 0, 3, arch_prctl), (load, 0, 0, 16), (equal, 0, 1, request), (give, 0, 0, eperm), (give, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in filter))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    program = Program(len(filter), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program)):  # no new privileges; seccomp
        sys.exit("the kernel takes no filter")


def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    files = sys.argv[1:]
    if files[0] == "--without-amx":
        refuse_tiles()
        files = files[1:]
    import numpy
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    out = {}
    for file in files:
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        out[file] = []
        for tokens in 200, 14:
            ids = numpy.random.default_rng(1).integers(1000, 29000, (1, tokens))
            feed = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
            feed = {i.name: feed[i.name] for i in session.get_inputs()}
            for _ in range(3):
                session.run(None, feed)
            start, runs = processor(), 0
            while processor() - start < 2:
                session.run(None, feed)
                runs += 1
            out[file].append(1000 * (processor() - start) / runs)
    print(json.dumps(out))


main()
