import PandoFixtures
import PandoModels
import PandoReplication
import PandoStore
import Testing

/// Each operation by one store, behind each by another one that it has not seen: as if one store had run
/// both, one after the other.
@Suite struct JudgingTests {
  enum Operation: CaseIterable, CustomTestStringConvertible {
    case setCard, setOtherCard, setLeaf, makeNode, setTitle
    case deleteLeaf, deleteCard, deleteAndMakeAgain
    case refer, require, refuseToHold, letGo
    case append, appendLeaf, insert, update, move, remove, removeLeaf, replace, removeList
    case takeCode, index, removeEverything

    var testDescription: String { "\(self)" }

    /// Runs it; who runs it has a name.
    func run(_ name: String, _ transaction: inout ModelTransaction) throws {
      switch self {
      case .setCard: try change("1", &transaction) { $0.text += name }
      case .setOtherCard: try change("2", &transaction) { $0.text += name }
      case .setLeaf:
        guard var leaf = try transaction.snapshot.get("Leaf:1", as: Leaf.self) else { return }
        leaf.text += name
        try transaction.set(leaf)
      case .makeNode: try transaction.set(Leaf(id: "new", text: name))
      case .setTitle: try transaction.set(CardTitle(id: "1", text: name, color: name))
      case .deleteLeaf: try transaction.deleteIfPresent("Leaf:1")
      case .deleteCard: try transaction.deleteIfPresent("Card:1")
      case .deleteAndMakeAgain:
        try transaction.deleteIfPresent("Leaf:1")
        try transaction.set(Leaf(id: "1", text: name))
      case .refer:
        let leaf = try transaction.snapshot.get("Leaf:1", as: Leaf.self)
        try change("2", &transaction) { $0.optional = leaf }
      case .require:
        guard let leaf = try transaction.snapshot.get("Leaf:1", as: Leaf.self) else { return }
        try transaction.set(Frame(id: name, leaf: leaf))
      case .refuseToHold: try change("1", &transaction) { $0.required = nil }
      case .letGo: try change("1", &transaction) { $0.leaves = [] }
      case .append: try transaction.append([Mark(number: name.count)], toCollection: "list")
      case .appendLeaf:
        guard let leaf = try transaction.snapshot.get("Leaf:1", as: Leaf.self) else { return }
        try transaction.append([leaf], toCollection: "list")
      case .insert:
        guard try hasList(transaction) else { return }
        try transaction.insert([Mark(number: 7), Mark(number: 8)], at: 1, inCollection: "list")
      case .update:
        guard try hasList(transaction) else { return }
        try transaction.update(Mark(number: name.count + 20), at: 0, inCollection: "list")
      case .move:
        guard try hasList(transaction) else { return }
        try transaction.moveElement(from: 0, to: 1, inCollection: "list")
      case .remove:
        guard try hasList(transaction) else { return }
        try transaction.removeElements(in: 0..<1, fromCollection: "list")
      case .removeLeaf:
        try transaction.deleteIfPresent("Leaf:2")
      case .replace: try transaction.setCollection("list", to: [Mark(number: 4), Mark(number: 5)])
      case .removeList: try transaction.removeCollection("list")
      case .takeCode:
        try transaction.set(TreeNode("Badge:\(name)", type: "Badge", fields: ["code": "x"]))
      case .index: try transaction.addIndex(on: "text", ofType: "Leaf")
      case .removeEverything: try transaction.removeAll()
      }
    }

    private func change(
      _ id: String, _ transaction: inout ModelTransaction, _ body: (inout Card) -> Void
    ) throws {
      guard var card = try transaction.snapshot.get("Card:\(id)", as: Card.self) else { return }
      body(&card)
      try transaction.set(card)
    }

    private func hasList(_ transaction: borrowing ModelTransaction) throws -> Bool {
      try transaction.snapshot.collectionCount("list") ?? 0 > 1
    }
  }

  /// What there is before.
  static func begin(_ transaction: inout ModelTransaction) throws {
    try transaction.addIndex(on: ["code"], ofType: "Badge", unique: true)
    let leaf = Leaf(id: "1", text: "-")
    try transaction.set(
      Card(id: "1", required: leaf, optional: leaf, leaves: [leaf, Leaf(id: "2")]))
    try transaction.set(Card(id: "2"))
    try transaction.set(Frame(id: "1", leaf: leaf))
    try transaction.append([leaf], toCollection: "list")
    try transaction.append([Mark(number: 1), Mark(number: 2)], toCollection: "list")
    try transaction.append([Leaf(id: "2")], toCollection: "list")
  }

  private func outcome(_ store: ModelStore, _ operation: Operation, _ name: String) -> String {
    do {
      try store.write { try operation.run(name, &$0) }
      return "done"
    } catch {
      return "\((error as? StoreError)?.code.rawValue ?? "\(error)")"
    }
  }

  @Test(arguments: Operation.allCases)
  func `two writes have the outcome of one store that runs them one after the other`(
    second: Operation
  ) throws {
    let all = Operation.allCases
    // Others for each second write.
    let place = try #require(all.firstIndex(of: second))
    for first in sample(all[place...] + all[..<place], 4) {
      try withReplicas(3) { replicas in
        try withTemporaryDirectory { path in
          let serial = try ModelStore(path: path + "/serial", configuration: .forTests)
          defer { serial.close() }
          for store in [replicas[0].store, serial] { try store.write { try Self.begin(&$0) } }
          try replicas[1].replica.catchUp()
          // Another one's write between, so that the numbers of nodes differ where they can.
          for store in [replicas[0].store, serial] {
            try store.write { try $0.set(Leaf(id: "between")) }
          }
          let stores = [replicas[0].store, replicas[1].store]
          for (index, operation) in [first, second].enumerated() {
            let name = index == 0 ? "a" : "bb"
            #expect(
              outcome(stores[index], operation, name) == outcome(serial, operation, name),
              "\(first), then \(second)")
          }
          let expected = try serial.dumpLines()
          for replica in replicas {
            try replica.replica.catchUp()
            #expect(try replica.dump() == expected, "\(first), then \(second)")
          }
          #expect(try replicas[2].store.verify().isClean)
        }
      }
    }
  }

  @Test func `a write that needs the whole store is refused behind any other`() throws {
    try withReplicas(2) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      try replicas[0].store.write { try $0.set(Leaf(id: "2")) }
      try replicas[1].store.write { transaction in
        transaction.isolateWholeStore()
        let count = try transaction.snapshot.get("Leaf:2", as: Leaf.self) == nil ? 1 : 2
        try transaction.set(Leaf(id: "count", text: "\(count)"))
      }
      #expect(replicas[1].replica.statistics.refused == 1)
      #expect(
        try replicas[1].store.read { try $0.get("Leaf:count", as: Leaf.self) }?.text == "2")
    }
  }

  @Test func `a write that expects a version throws, and does not run again`() throws {
    try withReplicas(2) { replicas in
      try replicas[0].store.write { try $0.set(Leaf(id: "1")) }
      try replicas[1].replica.catchUp()
      let commit = try replicas[1].store.read { try $0.lastCommit(of: "Leaf:1") }
      try replicas[0].store.write { try $0.set(Leaf(id: "1", text: "newer")) }
      let error = #expect(throws: StoreError.self) {
        try replicas[1].store.write(expecting: ["Leaf:1": commit]) {
          try $0.set(Leaf(id: "1", text: "mine"))
        }
      }
      #expect(error?.code == .changedMeanwhile)
      #expect(
        try replicas[1].store.read { try $0.get("Leaf:1", as: Leaf.self) }?.text == "newer")
    }
  }

  @Test func `a write that others come before again and again is a conflict after 16 times`() throws
  {
    let log = MemoryLog()
    // Whenever the second store appends, the first has just written the same node.
    let isBusy = Rival()
    try withReplicas(
      2, on: log,
      onCall: { index, call, moment in
        if index == 1, call == .append, moment == .before { try isBusy.write() }
      }
    ) { replicas in
      try replicas[0].store.write { try $0.set(Tally(id: 1)) }
      try replicas[1].replica.catchUp()
      isBusy.begin { number in
        try replicas[0].replica.catchUp()
        try replicas[0].store.write { try $0.set(Tally(id: 1, marks: [number])) }
      }
      let error = #expect(throws: StoreError.self) {
        try replicas[1].store.write { try $0.set(Tally(id: 1, marks: [-1])) }
      }
      #expect(error?.code == .conflict)
      #expect(isBusy.count == 16)
      isBusy.end()
      try replicas[0].replica.catchUp()
      #expect(try replicas[0].dump() == replicas[1].dump())
      #expect(
        try replicas[0].store.read { try $0.get("Tally:1", as: Tally.self) }?.marks == [16])
    }
  }
}
