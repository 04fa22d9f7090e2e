import PandoConsistency
import PandoFixtures
import PandoModels
import Testing

/// Which holders of a node are asked for an update of it, and whether all have it in the end.
@Suite struct SettlingTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")
  let anna = Person(id: 1, name: "Anna")

  func holders(_ count: Int, areCompared: Bool = false) -> [TreeHolder] {
    (0..<count).map { TreeHolder(Team(id: $0, lead: ann), manager, isCompared: areCompared) }
  }

  @Test func `a holder that has applied an update is not asked again for an equal node`() async {
    let holders = holders(20)
    manager.updateModel(anna)
    await manager.drain()
    #expect(holders.map { $0.takeAskedCount() } == Array(repeating: 1, count: 20))
    manager.updateModel(Team(id: 3, title: "new", lead: anna))
    await manager.drain()
    #expect(holders.indices.filter { holders[$0].takeAskedCount() > 0 } == [3])
    #expect(holders[3].tree as? Team == Team(id: 3, title: "new", lead: anna))
  }

  @Test func `a holder that joins with equal nodes is not asked for another equal one`() async {
    let holders = holders(20, areCompared: true)
    manager.updateModel(Team(id: 3, title: "new", lead: ann))
    await manager.drain()
    #expect(holders.indices.filter { holders[$0].takeAskedCount() > 0 } == [3])
    #expect(holders[3].tree as? Team == Team(id: 3, title: "new", lead: ann))
    manager.updateModel(anna)
    await manager.drain()
    #expect(holders.map { $0.takeAskedCount() } == Array(repeating: 1, count: 20))
    #expect(holders.allSatisfy { ($0.tree as? Team)?.lead == anna })
  }

  @Test func `a holder that joins with another value, or with both, is asked`() async {
    let holders = holders(20, areCompared: true)
    let other = TreeHolder(Team(id: 20, lead: anna), manager, isCompared: true)
    let torn = TreeHolder(Team(id: 21, lead: ann, members: [anna]), manager, isCompared: true)
    manager.updateModel(ann)
    await manager.drain()
    #expect(holders.allSatisfy { $0.takeAskedCount() == 0 })
    #expect(other.tree as? Team == Team(id: 20, lead: ann))
    #expect(torn.tree as? Team == Team(id: 21, lead: ann, members: [ann]))
  }

  @Test func `a holder that joins with another type is asked, and so are all others`() async {
    let holders = holders(20, areCompared: true)
    let profile = Profile(id: 1, name: "Ann", age: 3)
    let other = TreeHolder(profile, manager, isCompared: true)
    manager.updateModel(ann)
    await manager.drain()
    #expect(holders.map { $0.takeAskedCount() } == Array(repeating: 1, count: 20))
    #expect(other.takeAskedCount() == 1)
    #expect(other.tree as? Profile == profile)
  }

  @Test func `a holder that joined since is asked, and a change reaches all holders`() async {
    let first = holders(20)
    manager.updateModel(anna)
    await manager.drain()
    let late = TreeHolder(Team(id: 99, lead: ann), manager)
    manager.updateModel(anna)
    await manager.drain()
    #expect(first.map { $0.takeAskedCount() } == Array(repeating: 1, count: 20))
    #expect(late.tree as? Team == Team(id: 99, lead: anna))
    let anja = Person(id: 1, name: "Anja")
    manager.updateModel(anja)
    await manager.drain()
    #expect((first + [late]).allSatisfy { ($0.tree as? Team)?.lead == anja })
  }

  @Test func `a holder that has moved to an older tree is asked again`() async {
    let holders = holders(20)
    manager.updateModel(anna)
    holders[0].move(to: Team(id: 0, lead: ann), manager)
    manager.updateModel(anna)
    await manager.drain()
    #expect(holders[0].tree as? Team == Team(id: 0, lead: anna))
    #expect(holders.map { $0.takeAskedCount() } == [2] + Array(repeating: 1, count: 19))
  }

  @Test func `an update of another type is merged for all holders, or for none`() async {
    let holders = holders(20)
    manager.updateModel(anna)
    manager.updateModel(Profile(id: 1, name: "Anna", age: 3))
    await manager.drain()
    #expect(holders.map { $0.takeAskedCount() } == Array(repeating: 1, count: 20))
    manager.updateModel(Profile(id: 1, name: "Anja", age: 3))
    await manager.drain()
    #expect(holders.map { $0.takeAskedCount() } == Array(repeating: 1, count: 20))
    #expect(holders.allSatisfy { ($0.tree as? Team)?.lead.name == "Anja" })
  }

  @Test func `a newer version of the same type stands as it is, whatever the type's merge`() async {
    let holders = (0..<20).map { Sum(number: 0, value: $0) }.map { TreeHolder($0, manager) }
    for value in 1...3 { manager.updateModel(Sum(number: 0, value: value)) }
    await manager.drain()
    #expect(holders.map { ($0.tree as? Sum)?.value } == Array(repeating: 3, count: 20))
  }

  @Test(arguments: seeds(5), [false, true])
  func `random updates leave every tree as if all holders had been asked`(
    seed: UInt64, areCompared: Bool
  ) async throws {
    var random = SeededGenerator(seed: seed)
    var trees = RandomTree()
    var expected: [Node?] = []
    var holders: [TreeHolder] = []
    for step in 0..<200 {
      if holders.count < 40, Bool.random(using: &random) {
        let tree = trees.pick(&random)
        holders.append(TreeHolder(tree, manager, isCompared: areCompared))
        expected.append(tree)
      }
      if Int.random(in: 0..<5, using: &random) == 0 {
        let name = "n\(Int.random(in: 8..<RandomTree.nameCount, using: &random))"
        trees.delete(name)
        manager.deleteModel(Node(name, 0))
        expected = expected.map { tree in
          tree.flatMap { Reference.apply($0, [:], deleted: [name]).tree }
        }
      } else {
        // Often one that changes nothing, or only its root.
        let number = Int.random(in: 0..<RandomTree.nameCount, using: &random)
        if Bool.random(using: &random) { trees.make(number, &random) }
        guard let model = trees.contents[number] else { continue }
        let new = Dictionary(
          model.all.compactMap { node in node.name.map { ($0, node) } }, uniquingKeysWith: { $1 })
        manager.updateModel(model)
        expected = expected.map { tree in
          tree.flatMap { Reference.apply($0, new, deleted: []).tree }
        }
      }
      guard step % 10 == 9 else { continue }
      await manager.drain()
      for number in holders.indices {
        try #require(
          (holders[number].tree as? Node)?.text == expected[number]?.text,
          "seed \(seed), step \(step), holder \(number)")
      }
    }
  }
}

/// Its merge adds.
private struct Sum: Model, Equatable {
  var number: Int
  var value: Int
  var modelIdentifier: String? { "sum:\(number)" }
  func map(_ transform: (any Model) -> (any Model)?) -> Sum? { self }
  func forEach(_ visit: (any Model) -> Void) {}
  func merge(_ other: any Model) -> any Model {
    Sum(number: number, value: value + ((other as? Sum)?.value ?? 0))
  }
}
