import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@Suite struct RecordBodyRobustnessTests {
  @Test(
    arguments: [
      ([], "end too early"), ([0x18], "end too early"), ([0x18, 0x17], "shortest form"),
      ([0x19, 0, 0xff], "shortest form"), ([0x00, 0x00], "after the end"),
      ([0x61], "end too early"), ([0x61, 0xff], "not UTF-8"),
      ([0x5f, 0xff], "indefinite"),
      ([0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "end too early"),
      ([0xbb, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "end too early"),
      ([0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "end too early"),
      ([0xf7], "simple value"), ([0xf8, 0x20], "simple value"), ([0xfc], "not a CBOR item"),
      ([0xfa, 0x3f, 0xc0, 0, 0], "shortest form"),
      ([0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], "shortest"),
      ([0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0], "shortest form"),
      ([0xa2, 0x61, 0x62, 0, 0x61, 0x61, 0], "order"),
      ([0xa2, 0x61, 0x61, 0, 0x61, 0x61, 0], "order"),
      ([0xc2, 0x41, 1], "big integer"), ([0xc2, 0x49, 0, 1, 2, 3, 4, 5, 6, 7, 8], "big integer"),
      ([0xc2, 0x61, 0x61], "big integer"), ([0xd9, 0x50, 0x41, 0x81, 0], "end too early"),
      ([0xd9, 0x50, 0x41, 0x82, 0x61, 0x61, 0], "at byte"),
      ([0xd9, 0x50, 0x41, 0x82, 0x18, 1, 0], "shortest"),
      ([0xd9, 0x50, 0x41, 0x82, 0, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0], "at byte"),
      ([0x81, 0xd9, 0x50, 0x42, 0x82, 0, 0], "without a slot"),
      ([0xa1, 0x61, 0x61, 0xd9, 0x50, 0x43, 0xa0], "around another one"),
      (
        [0x81, 0xd9, 0x50, 0x43, 0xa1, 0x61, 0x61, 0xd9, 0x50, 0x41, 0x82, 0, 0],
        "outside of an object"
      ),
      ([0xd9, 0x50, 0x44, 0xa1, 0x61, 0x61, 0x01], "around another one"),
      ([0xd9, 0x50, 0x44, 0x80], "without a map"),
      ([0xd8, 0x64, 0xd9, 0x50, 0x41, 0x82, 0, 0], "inside of a tag"),
      ([0xa1, 0xd9, 0x50, 0x41, 0x82, 0, 0, 0], "in a key"),
      ([0xa1, 0x01, 0xd9, 0x50, 0x41, 0x82, 0, 0], "no text"),
    ] as [([UInt8], String)])
  func `the check finds bytes the encoder never writes`(bytes: [UInt8], reason: String) throws {
    let error = try #require(throws: ModelError.self) { try RecordBody.validate(bytes) }
    #expect(error.code == .invalidRecord)
    #expect(error.reason.contains(reason), "\(error.reason)")
  }

  @Test(arguments: seeds(16))
  func `damaged bodies end in an error or in a value`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for _ in 0..<100 {
      let records = TreeRecords()
      var nodes: [TreeNode] = []
      var body = try records.encode(random.storable(depth: 4, nodes: &nodes)).body
      for _ in 0...Int.random(in: 0..<3, using: &random) { damage(&body, &random) }
      try checkAll(body, records, "seed \(seed)")
    }
  }

  @Test(arguments: seeds(16))
  func `arbitrary bytes end in an error or in a value`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    let pieces: [[UInt8]] = [
      [0xd9, 0x50, 0x41, 0x82, 0, 0], [0xd9, 0x50, 0x42, 0x82, 1, 0], [0xd9, 0x50, 0x43],
      [0xd9, 0x50, 0x44], [0xa1], [0xa2], [0x61, 0x61], [0x61, 0x62], [0x81], [0x82], [0x01],
      [0xf6],
      [0xf9, 0x3e, 0], [0xfa, 0x7f, 0xc0, 0, 1], [0xfb], [0xc2, 0x49], [0x9f], [0x1b], [0x3b],
    ]
    for _ in 0..<600 {
      let records = TreeRecords()
      _ = records.number("n0", "T")
      _ = records.number("n1", "T")
      var body: [UInt8] = []
      for _ in 0..<Int.random(in: 1..<12, using: &random) {
        body += random.chance(1, in: 8) ? random.bytes(atMost: 4) : random.pick(pieces)
      }
      try checkAll(body, records, "seed \(seed)")
    }
  }

  @Test func `a deep body is an error`() {
    for piece in [[0x81], [0xa1, 0x00], [0xd8, 0x64], [0xd9, 0x50, 0x43], [0xa1, 0x80]] as [[UInt8]]
    {
      let body = Array(repeatElement(piece, count: 100_000).joined()) + [0]
      let records = TreeRecords()
      #expect(throws: ModelError.self) { try RecordBody.validate(body) }
      #expect(throws: ModelError.self) { try records.decode(body) }
      _ = try? RecordBody.edges(in: body)
      _ = try? RecordBody.losing(children: [0], in: body)
      _ = try? RecordBody.merging(body, into: body)
      _ = try? RecordBody.merging(body, into: [0xa1, 0, 0], policy: .update)
      _ = try? RecordBody.merging([0xa1, 0, 0], into: body, policy: .update)
    }
  }

  /// A body is valid exactly when it decodes and the value has the same bytes again.
  private func checkAll(_ body: [UInt8], _ records: TreeRecords, _ comment: Comment) throws {
    let isValid = (try? RecordBody.validate(body)) != nil
    let value: TreeValue?
    do {
      value = try records.decode(body, depth: 0)
    } catch is TreeRecords.UnknownNode {
      return
    } catch {
      value = nil
    }
    let again = try value.map { try records.encode($0).body }
    #expect(isValid == (again == body), "\(comment): \(body)")
    let edges = try? RecordBody.edges(in: body)
    if isValid { #expect(edges != nil, "\(comment): \(body)") }
    let loss = try? RecordBody.losing(children: [0], in: body)
    if isValid {
      #expect(loss != nil, "\(comment): \(body)")
      if case .changed(let changed) = loss { try RecordBody.validate(changed) }
    }
    let other: [UInt8] = [0xa2, 0x61, 0x61, 0x01, 0x61, 0x62, 0xd9, 0x50, 0x41, 0x82, 1, 0]
    for policy in [RecordMerge.Policy.projection, .update] {
      for (new, old) in [(body, other), (other, body), (body, body)] {
        let merge = try? RecordBody.merging(new, into: old, policy: policy)
        if isValid, let merged = merge?.body { try RecordBody.validate(merged) }
      }
    }
  }

  private func damage(_ body: inout [UInt8], _ random: inout TreeGenerator) {
    guard !body.isEmpty else { return }
    let index = Int.random(in: 0..<body.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: body.remove(at: index)
    case 1: body.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
    case 2: body.removeLast(body.count - index)
    default: body[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
  }
}
