import PandoConsistency
import PandoModels
import Testing

@Suite struct ChangesTests {
  let manager = ConsistencyManager()
  let ann = Person(id: 1, name: "Ann")
  let anna = Person(id: 1, name: "Anna")
  let bea = Person(id: 2, name: "Bea")

  /// The updates that one change reports to a listener.
  func report(
    _ tree: any Model, _ update: (ConsistencyManager) -> Void
  ) async -> ModelUpdates? {
    let listener = Listener(tree)
    manager.addListener(listener)
    update(manager)
    await manager.drain()
    #expect(listener.calls.count <= 1)
    manager.removeListener(listener)
    return listener.calls.first?.updates
  }

  @Test func `changed are the nodes that changed and all their ancestors`() async {
    let company = Company(
      id: 1, board: Company.Board(chair: bea, teams: [Team(id: 1, lead: ann)]),
      teams: [Team(id: 2, lead: bea)])
    let updates = await report(company) { $0.updateModel(anna) }
    #expect(
      updates == ModelUpdates(changedModelIdentifiers: ["company:1", "team:1", "person:1"]))
  }

  @Test func `a changed root is in it, also by itself`() async {
    let updates = await report(Team(id: 1, lead: ann)) {
      $0.updateModel(Team(id: 1, title: "new", lead: ann))
    }
    #expect(updates == ModelUpdates(changedModelIdentifiers: ["team:1"]))
  }

  @Test func `of a child at several places all parents are changed`() async {
    let company = Company(
      id: 1, teams: [Team(id: 1, lead: ann), Team(id: 2, lead: bea), Team(id: 3, lead: ann)])
    let updates = await report(company) { $0.updateModel(anna) }
    #expect(
      updates
        == ModelUpdates(changedModelIdentifiers: ["company:1", "team:1", "person:1", "team:3"]))
  }

  @Test func `a node that is new in the tree does not count as changed`() async {
    let updates = await report(Team(id: 1, lead: ann)) {
      $0.updateModel(Team(id: 1, lead: bea, deputy: Person(id: 3, name: "x")))
    }
    #expect(updates == ModelUpdates(changedModelIdentifiers: ["team:1"]))
  }

  @Test func `in a replaced subtree, changed is what the update carries in another version`() async
  {
    let team = Team(id: 1, lead: ann, deputy: bea, members: [Person(id: 3, name: "x")])
    let company = Company(id: 1, teams: [team])
    let updates = await report(company) {
      $0.updateModel(Team(id: 1, lead: anna, deputy: bea))
    }
    // Bea is carried as she was, and 3 has merely gone.
    #expect(
      updates == ModelUpdates(changedModelIdentifiers: ["company:1", "team:1", "person:1"]))
  }

  @Test func `a node that left the tree and is elsewhere in the update counts as changed`() async {
    let team = Team(id: 1, lead: ann, deputy: bea)
    let updates = await report(team) {
      $0.updateModels([Team(id: 1, lead: ann), Person(id: 2, name: "Beatrice")])
    }
    #expect(updates == ModelUpdates(changedModelIdentifiers: ["team:1", "person:2"]))
  }

  @Test func `deleted are the identifier and every ancestor that went with it`() async {
    let company = Company(id: 1, teams: [Team(id: 1, lead: ann, deputy: bea)])
    let updates = await report(company) { $0.deleteModel(ann) }
    #expect(
      updates
        == ModelUpdates(
          changedModelIdentifiers: ["company:1"], deletedModelIdentifiers: ["team:1", "person:1"]))
  }

  @Test func `the children of a deleted root are not listed`() async {
    let updates = await report(Team(id: 1, lead: ann, deputy: bea)) {
      $0.deleteModel(Team(id: 1, lead: bea))
    }
    #expect(updates == ModelUpdates(deletedModelIdentifiers: ["team:1"]))
  }

  @Test func `each identifier is listed once, in one list only`() async {
    let company = Company(
      id: 1, board: Company.Board(chair: ann),
      teams: [
        Team(id: 1, lead: ann), Team(id: 1, lead: ann),
        Team(id: 2, lead: bea, members: [ann, ann]),
      ])
    let updates = await report(company) { $0.deleteModel(ann) }
    #expect(
      updates
        == ModelUpdates(
          changedModelIdentifiers: ["company:1", "team:2"],
          deletedModelIdentifiers: ["person:1", "team:1"]))
  }
}
