import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoRecords

@Suite struct ModelErrorTests {
  struct Node: Model, Codable, Hashable {
    var modelIdentifier: String?
    var children: [Node] = []
  }

  private func code(_ node: Node) -> ModelError.Code? {
    do {
      _ = try RecordEncoder(sink: MemoryRecords()).encode(node)
      return nil
    } catch { return (error as? ModelError)?.code }
  }

  @Test func `an identifier inside its own subtree is refused`() {
    let inner = Node(modelIdentifier: "b", children: [Node(modelIdentifier: "a")])
    #expect(code(Node(modelIdentifier: "a", children: [inner])) == .cyclicModel)
    let twice = Node(modelIdentifier: "b")
    #expect(code(Node(modelIdentifier: "a", children: [twice, twice])) == nil)
  }

  @Test func `identifiers are compared byte by byte`() {
    #expect("\u{E9}" == "e\u{301}")
    let inner = Node(modelIdentifier: "e\u{301}")
    #expect(code(Node(modelIdentifier: "\u{E9}", children: [inner])) == nil)
  }

  @Test func `an empty identifier and a root without one are refused`() {
    #expect(code(Node(modelIdentifier: "")) == .emptyIdentifier)
    #expect(
      code(Node(modelIdentifier: "a", children: [Node(modelIdentifier: "")])) == .emptyIdentifier)
    #expect(code(Node(modelIdentifier: nil)) == .missingIdentifier)
  }

  private func chain(_ depth: Int, identifiers: Bool) -> Node {
    var node = Node(modelIdentifier: identifiers ? "node \(depth)" : nil)
    for level in (0..<depth).reversed() {
      node = Node(
        modelIdentifier: identifiers || level == 0 ? "node \(level)" : nil, children: [node])
    }
    return node
  }

  @Test(arguments: [true, false])
  func `nesting is limited, and what is written is read back`(identifiers: Bool) throws {
    // Of models without identifier, each level is a model and a list; of nodes it is one node.
    let allowed =
      identifiers ? RecordLimits.maximumNodeDepth - 1 : RecordLimits.maximumNestingDepth / 2 - 1
    let node = chain(allowed, identifiers: identifiers)
    #expect(try MemoryRecords.roundTrip(node) == node)
    let more = identifiers ? 1 : 2
    #expect(code(chain(allowed + more, identifiers: identifiers)) == .nestingTooDeep)
  }

  @Test func `deep nesting fits the stack of a small thread`() throws {
    let node = chain(RecordLimits.maximumNodeDepth - 1, identifiers: true)
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result: Node?
    let thread = Thread {
      result = try? MemoryRecords.roundTrip(node)
      _ = result?.map { $0 }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    #expect(result == node)
  }

  @Test func `damaged bytes nested too deep are refused`() {
    var body = [UInt8](repeating: 0x81, count: 5000)
    body.append(0xA0)
    #expect(throws: ModelError.self) { try RecordDecoder.decodeValue(Deep.self, from: body) }
  }

  struct Deep: Decodable {
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      _ = try list.decode(Deep.self)
    }
  }

  @Test func `a missing field is named with its path, its node and its type`() throws {
    let records = MemoryRecords()
    var message = Message.sample()
    message.author.image = Image(modelIdentifier: nil, url: "u")
    let root = try RecordEncoder(sink: records).encode(message)
    // id and image without url, no name
    let body = try RecordEncoder.encodeValue(["image": ["modelIdentifier": nil as String?]]).body
    records.replaceBody(
      of: "person:1",
      with: bytes(
        "a3" + "626964" + "01" + "646e616d65" + "6178"
          + "65696d616765" + hex(body).dropFirst(14)))
    let error = #expect(throws: ModelError.self) { try records.decode(Message.self, root) }
    #expect(error?.code == .missingField)
    #expect(error?.identifier == "person:1")
    #expect(error?.typeName == "Person")
    #expect(error?.field == "image.url")
    #expect(error?.topField == "author")
  }

  @Test func `an error without a node of its own names the root`() throws {
    let error = ModelError(.missingField, reason: "r").inside("[2]").inside("list")
    #expect(error.about(identifier: "a", typeName: "T").description == "T \"a\", field list[2]: r")
    #expect(error.topField == "list")
    #expect(
      error.about(identifier: "a", typeName: "T").about(identifier: "b", typeName: "U").identifier
        == "a")
  }

  @Test func `an error of the sink reaches the caller unchanged`() {
    let records = MemoryRecords()
    records.refused = "person:5"
    #expect(throws: MemoryRecords.Refusal.self) {
      try RecordEncoder(sink: records).encode(Message.sample())
    }
  }

  @Test(arguments: [
    ("6161", ModelError.Code.typeMismatch), ("f6", .typeMismatch),
    ("1bffffffffffffffff", .typeMismatch),
    ("fb3ff8000000000001", .typeMismatch), ("18", .invalidRecord), ("", .invalidRecord),
    ("0000", .invalidRecord), ("9f01ff", .typeMismatch), ("d9504182", .invalidRecord),
  ])
  func `bytes that are no Int are refused`(hex: String, code: ModelError.Code) {
    let error = #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(Int.self, from: bytes(hex))
    }
    if hex != "9f01ff" && hex != "d9504182" { #expect(error?.code == code) }
  }

  @Test(arguments: seeds(64))
  func `damaged records throw and never crash`(seed: UInt64) throws {
    let records = MemoryRecords()
    let root = try RecordEncoder(sink: records).encode(Message.sample())
    let whole = try #require(records.records[root]).body
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        damaged[Int.random(in: damaged.indices, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random))
      }
      records.replaceBody(of: "message:1", with: damaged)
      _ = try? records.decode(Message.self, root)
    }
  }
}
