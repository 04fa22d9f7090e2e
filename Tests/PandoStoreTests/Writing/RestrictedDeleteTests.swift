import PandoFixtures
import PandoModels
import PandoStore
import Testing

/// A rule refuses a delete only for a holder that stays.
@Suite(.overBothBackings) struct RestrictedDeleteTests {
  struct Leaf: Model, Codable, Equatable {
    var id: Int
    var modelIdentifier: String? { "leaf:\(id)" }
  }

  /// Holds a leaf by a rule, and requires one without a rule.
  struct Pin: Model, Codable, Equatable, DeletionRuled {
    struct Details: Codable, Equatable, Sendable { var spare: Leaf? }

    var id: Int
    var held: Leaf?
    var needed: Leaf
    var details = Details()
    var modelIdentifier: String? { "pin:\(id)" }
    static let deletionRules: [DeletionRule] = [.restrict("held"), .restrict("details.spare")]
  }

  /// Requires by a rule, and by a slot without one in an object that can go alone.
  struct Clip: Model, Codable, Equatable, DeletionRuled {
    struct Label: Codable, Equatable, Sendable { var leaf: Leaf }

    var id: Int
    var held: Leaf
    var label: Label?
    var modelIdentifier: String? { "clip:\(id)" }
    static let deletionRules: [DeletionRule] = [.restrict("held")]
  }

  /// Owns pins and clips, and requires a leaf.
  struct Box: Model, Codable, Equatable, DeletionRuled {
    var id: Int
    var pins: [Pin] = []
    var clips: [Clip] = []
    var needed: Leaf
    var modelIdentifier: String? { "box:\(id)" }
    static let deletionRules: [DeletionRule] = [.owned("pins"), .owned("clips")]
  }

  private func leaf(_ id: Int) -> Leaf { Leaf(id: id) }

  private func deleted(_ identifier: String, from roots: [any Model & Codable]) throws -> [String] {
    let store = try ModelStore.forTest()
    try store.write { transaction in for root in roots { try transaction.set(root) } }
    let deletion = try store.write { try $0.deleteIfPresent(identifier) }
    #expect(try store.verify().problems == [])
    return (deletion?.deleted ?? []).sorted()
  }

  @Test func `a holder that requires the child in another slot goes with it`() throws {
    #expect(
      try deleted("leaf:1", from: [Pin(id: 1, held: leaf(1), needed: leaf(1))])
        == ["leaf:1", "pin:1"])
    let nested = Pin(id: 1, needed: leaf(1), details: .init(spare: leaf(1)))
    #expect(try deleted("leaf:1", from: [nested]) == ["leaf:1", "pin:1"])
  }

  @Test func `a holder that goes with its owner restricts nothing`() throws {
    let pin = Pin(id: 1, held: leaf(1), needed: leaf(2))
    let clip = Clip(id: 1, held: leaf(1))
    #expect(
      try deleted("leaf:1", from: [Box(id: 1, pins: [pin], clips: [clip], needed: leaf(1))])
        == ["box:1", "clip:1", "leaf:1", "pin:1"])
    // The owner goes, and something else keeps the holder.
    let box = Box(id: 1, pins: [pin], needed: leaf(1))
    let other = Box(id: 2, pins: [pin], needed: leaf(3))
    expectFailure(.restricted, "leaf:1: can't be deleted: pin:1 holds it as held;") {
      _ = try deleted("leaf:1", from: [box, other])
    }
  }

  @Test func `a required slot with a rule refuses, alone and beside an object that can go`() throws
  {
    for clip in [
      Clip(id: 1, held: leaf(1)), Clip(id: 1, held: leaf(1), label: .init(leaf: leaf(1))),
    ] {
      expectFailure(.restricted, "leaf:1: can't be deleted: clip:1 holds it as held;") {
        _ = try deleted("leaf:1", from: [clip])
      }
    }
  }

  /// The nodes that go with a leaf, worked out over values; `nil` where a rule refuses.
  private func reference(_ id: Int, _ boxes: [Box], _ loose: [Pin]) -> Set<String>? {
    var gone: Set = ["leaf:\(id)"]
    let pins = boxes.flatMap(\.pins) + loose
    let clips = boxes.flatMap(\.clips)
    func isGone(_ leaf: Leaf?) -> Bool { leaf.map { gone.contains("leaf:\($0.id)") } ?? false }
    for box in boxes where isGone(box.needed) { gone.insert("box:\(box.id)") }
    for pin in pins where isGone(pin.needed) { gone.insert("pin:\(pin.id)") }
    let kept = boxes.filter { !gone.contains("box:\($0.id)") }
    for box in boxes where gone.contains("box:\(box.id)") {
      for pin in box.pins where !kept.contains(where: { $0.pins.contains { $0.id == pin.id } }) {
        gone.insert("pin:\(pin.id)")
      }
      for clip in box.clips where !kept.contains(where: { $0.clips.contains { $0.id == clip.id } })
      { gone.insert("clip:\(clip.id)") }
    }
    let isRefused =
      pins.contains {
        !gone.contains("pin:\($0.id)") && (isGone($0.held) || isGone($0.details.spare))
      } || clips.contains { !gone.contains("clip:\($0.id)") && isGone($0.held) }
    return isRefused ? nil : gone
  }

  @Test(arguments: seeds(15)) func `random deletes take what a naive reference takes`(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    func some(_ count: Int) -> Leaf { Leaf(id: Int.random(in: 0..<count, using: &random)) }
    let pins = (0..<4).map { id in
      Pin(
        id: id, held: Bool.random(using: &random) ? some(3) : nil, needed: some(4),
        details: .init(spare: Bool.random(using: &random) ? some(3) : nil))
    }
    let clips = (0..<3).map { id in
      Clip(
        id: id, held: some(4), label: Bool.random(using: &random) ? .init(leaf: some(4)) : nil)
    }
    let boxes = (0..<3).map { id in
      Box(
        id: id, pins: pins.filter { _ in Int.random(in: 0..<3, using: &random) == 0 },
        clips: clips.filter { _ in Bool.random(using: &random) }, needed: some(4))
    }
    let loose = pins.filter { pin in !boxes.contains { $0.pins.contains(pin) } }
    for id in 0..<4 {
      let store = try ModelStore.forTest()
      try store.write { transaction in
        try transaction.set(Leaf(id: id))
        for box in boxes { try transaction.set(box) }
        for pin in loose { try transaction.set(pin) }
      }
      let found: Set<String>?
      do {
        found = Set(try store.write { try $0.deleteIfPresent("leaf:\(id)") }?.deleted ?? [])
      } catch let error as StoreError where error.code == .restricted {
        found = nil
      }
      #expect(found == reference(id, boxes, loose), "leaf \(id) of \(boxes) and \(loose)")
      #expect(try store.verify().problems == [])
    }
  }
}
