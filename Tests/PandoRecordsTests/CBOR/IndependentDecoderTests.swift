import Foundation
import PandoFixtures
import Testing

@testable import PandoRecords

/// Our bytes, read by a decoder that somebody else wrote: Python's `cbor2`.
@Suite struct IndependentDecoderTests {
  /// Whether the decoder is there.
  ///
  /// With `PANDO_REQUIRE_CBOR2=1` the test runs, and fails, without it.
  static let isAvailable: Bool = {
    ProcessInfo.processInfo.environment["PANDO_REQUIRE_CBOR2"] == "1"
      || (try? run("import cbor2", input: "")) != nil
  }()

  struct Failed: Error { let status: Int32 }

  private static func run(_ script: String, input: String) throws -> String {
    let run = try ChildProcess.run("/usr/bin/python3", ["-c", script], input: input)
    guard run.status == 0 else { throw Failed(status: run.status) }
    return run.output
  }

  /// Prints what each line of hexadecimal holds, and whether encoding it again gives the same bytes.
  private static let script = """
    import sys, struct, cbor2, uuid, decimal, collections.abc
    def say(v):
        if v is None: return "null"
        if isinstance(v, bool): return "bool " + str(v).lower()
        if isinstance(v, int): return "int " + str(v)
        if isinstance(v, float): return "float " + struct.pack(">d", v).hex()
        if isinstance(v, str): return "text " + v.encode().hex()
        if isinstance(v, bytes): return "bytes " + v.hex()
        if isinstance(v, (list, tuple)): return "[" + ", ".join(say(x) for x in v) + "]"
        if isinstance(v, collections.abc.Mapping):
            return "{" + ", ".join(say(k) + ": " + say(x) for k, x in v.items()) + "}"
        if isinstance(v, uuid.UUID): return "37(bytes " + v.bytes.hex() + ")"
        if isinstance(v, decimal.Decimal):
            sign, digits, exponent = v.as_tuple()
            mantissa = int("".join(map(str, digits)))
            return "4([int %d, int %d])" % (exponent, -mantissa if sign else mantissa)
        if isinstance(v, cbor2.CBORTag): return "%d(%s)" % (v.tag, say(v.value))
        return "other " + repr(v)
    for line in sys.stdin:
        raw = bytes.fromhex(line.strip())
        value = cbor2.loads(raw)
        print("same" if cbor2.dumps(value, canonical=True) == raw else "changed", say(value))
    """

  /// The same text from our own reader.
  private func say(_ item: CBORItem) -> String {
    switch item {
    case .null: "null"
    case .undefined: "undefined"
    case .simple(let value): "simple \(value)"
    case .bool(let value): "bool \(value)"
    case .integer(let value): "int \(value)"
    case .float(let bits): "float " + hex(bigEndian(bits))
    case .text(let text): "text " + hex(Array(text.utf8))
    case .bytes(let bytes): "bytes " + hex(bytes)
    case .array(let items): "[" + items.map(say).joined(separator: ", ") + "]"
    case .map(let items):
      "{"
        + stride(from: 0, to: items.count, by: 2).map { say(items[$0]) + ": " + say(items[$0 + 1]) }
        .joined(separator: ", ") + "}"
    case .tagged(2, .bytes(let bytes)): "int \(number(bytes))"
    case .tagged(3, .bytes(let bytes)): "int \(-1 - number(bytes))"
    case .tagged(let tag, let item): "\(tag)(\(say(item)))"
    }
  }

  private func bigEndian(_ bits: UInt64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> (UInt64($0) * 8)) }
  }

  private func number(_ bytes: [UInt8]) -> Int128 {
    bytes.reduce(0) { $0 << 8 | Int128($1) }
  }

  private func corpus() throws -> [[UInt8]] {
    var bodies: [[UInt8]] = []
    let records = MemoryRecords()
    _ = try RecordEncoder(sink: records).encode(Message.sample())
    bodies += records.records.values.map(\.body)
    for seed in 0..<40 {
      var random = SeededGenerator(seed: UInt64(seed))
      var value = RoundTripTests.Everything(&random)
      // Python has no integers beyond those of `Int128` in its tags 2 and 3 that we could not say.
      value.uint128 >>= 1
      bodies.append(try RecordEncoder.encodeValue(value).body)
      let doubles = (0..<50).map { _ in Double(bitPattern: random.next()) }.filter { !$0.isNaN }
      bodies.append(try RecordEncoder.encodeValue(doubles).body)
      let floats = (0..<50).map { _ in
        Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      }.filter { !$0.isNaN }
      bodies.append(try RecordEncoder.encodeValue(floats).body)
    }
    for text in ["1.1", "-0.000123", "340282366920938463463374607431768211455", "1e30", "0"] {
      guard let decimal = Decimal(string: text), decimal.parts.magnitude < 1 << 126 else {
        continue
      }
      bodies.append(try RecordEncoder.encodeValue(decimal).body)
    }
    bodies.append(try RecordEncoder.encodeValue([1.5: "a", -2: "b", .infinity: "c"]).body)
    bodies.append(try RecordEncoder.encodeValue(Set(0..<300)).body)
    if let url = URL(string: "https://example.org/?q=%C3%A9") {
      bodies.append(try RecordEncoder.encodeValue(["url": url]).body)
    }
    return bodies
  }

  @Test(.enabled(if: isAvailable, "Python's cbor2 is not installed: apt install python3-cbor2"))
  func `an independent decoder reads what we write, and writes the same`() throws {
    let bodies = try corpus()
    let output = try Self.run(
      Self.script, input: bodies.map { hex($0) + "\n" }.joined())
    let lines = output.split(separator: "\n")
    try #require(lines.count == bodies.count)
    for (line, body) in zip(lines, bodies) {
      let item = try body.withUnsafeBytes { raw -> CBORItem in
        var reader = CBORReader(raw)
        return try CBORItem.read(&reader)
      }
      #expect(String(line) == "same " + say(item), "\(hex(body))")
    }
  }
}
