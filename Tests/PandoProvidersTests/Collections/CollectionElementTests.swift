import PandoConsistency
import PandoModels
import PandoProviders
import PandoStore
import Testing

/// Changes of elements elsewhere.
@Suite struct CollectionElementTests {
  let manager = DataModelManager()

  private func follower(_ models: [Contact]) -> ListFollower<Contact> {
    let follower = ListFollower<Contact>(manager)
    follower.provider.setData(models, cacheKey: nil)
    manager.settle()
    return follower
  }

  @Test func `a change of an element elsewhere is an update of its place`() {
    let list = follower(Contact.list(1, 2, 3))
    manager.publish(Contact(2, "Ada"), context: "why")
    #expect(list.provider.data.map(\.name) == ["", "Ada", ""])
    let calls = list.takeCalls()
    #expect(calls.map(\.change) == [.changes([.update(index: 1)])])
    #expect(calls.first?.context as? String == "why")
    manager.publish(Contact(2, "Ada"))
    manager.publish(Contact(9, "Bob"))
    #expect(list.takeCalls().isEmpty)
  }

  @Test func `a change inside an element's tree is an update of the element`() {
    let teams = ListFollower<Team>(manager)
    teams.provider.setData(
      [Team(id: 1, lead: Contact(1)), Team(id: 2, lead: Contact(2), members: Contact.list(1, 3))],
      cacheKey: nil)
    manager.settle()
    manager.publish(Contact(3, "Cyd"))
    #expect(teams.takeChanges() == [.changes([.update(index: 1)])])
    #expect(teams.provider[1].members[1].name == "Cyd")
    manager.publish(Contact(1, "Ada"))
    #expect(teams.takeChanges() == [.changes([.update(index: 1), .update(index: 0)])])
  }

  @Test func `a deleted element, also by cascade, is deleted from its place`() {
    let teams = ListFollower<Team>(manager)
    teams.provider.setData(
      [
        Team(id: 1, lead: Contact(1)), Team(id: 2, lead: Contact(2), helper: Contact(1)),
        Team(id: 3, lead: Contact(1), members: Contact.list(2)),
      ], cacheKey: nil)
    manager.settle()
    manager.erase("Contact:1", context: 4)
    let calls = teams.takeCalls()
    #expect(
      calls.map(\.change) == [
        .changes([.delete(index: 2), .update(index: 1), .delete(index: 0)])
      ])
    #expect(calls.first?.context as? Int == 4)
    #expect(teams.provider.data == [Team(id: 2, lead: Contact(2))])
    manager.erase("Team:2")
    #expect(teams.takeChanges() == [.changes([.delete(index: 0)])])
    #expect(teams.provider.count == 0)
  }

  @Test func `several changes of one update are one call, from high to low`() {
    let list = follower(Contact.list(1, 2, 3, 2))
    manager.publish(Contact(1, "a"), Contact(2, "b"))
    #expect(
      list.takeChanges() == [
        .changes([.update(index: 3), .update(index: 1), .update(index: 0)])
      ])
  }

  @Test func `an element that comes in as another type is merged into its place`() {
    let list = follower([Contact(1, "Ada")])
    manager.publish(ContactCard(id: 1, name: "Countess", phone: "1"))
    #expect(list.provider.data == [Contact(1, "Countess")])
    manager.publish(ContactCard(id: 1, name: "Countess", phone: "2"))
    #expect(list.takeChanges() == [.changes([.update(index: 0)])])
  }

  @Test func `new elements change other collections that hold the same identifiers`() {
    let list = follower([Contact(1), Contact(2)])
    let other = follower([Contact(3)])
    other.provider.append([Contact(2, "Bob")], context: "append")
    manager.settle()
    #expect(list.provider[1].name == "Bob")
    let calls = list.takeCalls()
    #expect(calls.map(\.change) == [.changes([.update(index: 1)])])
    #expect(calls.first?.context as? String == "append")
    other.provider.setData([Contact(1, "Ada")], cacheKey: nil)
    manager.settle()
    #expect(list.provider[0].name == "Ada")
    _ = list.takeCalls()
    other.provider.update(Contact(2, "Bert"), at: 0)
    manager.settle()
    #expect(list.provider[1].name == "Bert")
    other.provider.insert([Contact(1, "Alf")], at: 0)
    manager.settle()
    #expect(list.takeChanges() == [.changes([.update(index: 1)]), .changes([.update(index: 0)])])
  }

  @Test func `new elements are listened to, and those that left are not`() {
    let list = follower([Contact(1)])
    list.provider.append([Contact(2)])
    list.provider.update(Contact(3), at: 0)
    manager.settle()
    manager.publish(Contact(2, "Bob"))
    manager.publish(Contact(3, "Cyd"))
    #expect(list.takeChanges() == [.changes([.update(index: 1)]), .changes([.update(index: 0)])])
    manager.publish(Contact(1, "Ada"))
    list.provider.remove(at: 1)
    manager.publish(Contact(2, "Bert"))
    #expect(list.takeChanges().isEmpty)
    #expect(manager.consistencyManager.liveTypes(of: "Contact:1").isEmpty)
    #expect(manager.consistencyManager.liveTypes(of: "Contact:2").isEmpty)
    #expect(!manager.consistencyManager.liveTypes(of: "Contact:3").isEmpty)
  }

  @Test func `an element twice in a list shows the newer value, and its editor is notified`() {
    let list = follower([Contact(1), Contact(2)])
    list.provider.append([Contact(1, "Ada")])
    manager.settle()
    #expect(list.provider.data.map(\.name) == ["Ada", "", "Ada"])
    #expect(list.takeChanges() == [.changes([.update(index: 0)])])
  }

  /// The newer contents were given to other rows, because their numbers were not in order.
  @Test func `many elements that are twice in the list follow the newer ones`() {
    let list = follower((0..<12).map { Contact($0, "a") })
    let new = (0..<12).map { Contact($0, "new") }
    let old = (0..<12).reversed().map { Contact($0, "old") }
    list.provider.setData(old + new + [Contact(12)], cacheKey: nil)
    manager.settle()
    #expect(list.provider.data == new.reversed() + new + [Contact(12)])
  }

  /// They were shown as given until the commit.
  @Test func `of two values of one node in an edit all elements show the last at once`()
    async throws
  {
    let two = [Contact(1, "old"), Contact(2), Contact(1, "new")]
    let shown = [Contact(1, "new"), Contact(2), Contact(1, "new")]
    try await withStore { store in
      let stored = try DataModelManager(store: store)
      for manager in [manager, stored] {
        for edit in 0..<3 {
          let list = ListFollower<Contact>(manager)
          try await list.provider.setData([], cacheKey: "list \(edit)").committed()
          let outcome =
            switch edit {
            case 0: list.provider.append(two)
            case 1: list.provider.insert(two, at: 0)
            default: list.provider.setData(two, cacheKey: "list \(edit)")
            }
          #expect(list.provider.data == shown, "edit \(edit)")
          try await outcome.committed()
          #expect(list.provider.data == shown, "edit \(edit)")
          #expect(list.takeChanges() == [], "edit \(edit)")
        }
      }
      #expect(try await store.read { try $0.collection("list 0", as: Contact.self) } == shown)
      await stored.close()
    }
  }

  @Test func `of two values of one node inside new elements all show the last at once`() {
    let teams = ListFollower<Team>(manager)
    teams.provider.append([
      Team(id: 1, lead: Contact(1, "old"), members: [Contact(2)]),
      Team(id: 2, lead: Contact(2, "two"), helper: Contact(1, "new")),
    ])
    let shown = [
      Team(id: 1, lead: Contact(1, "new"), members: [Contact(2, "two")]),
      Team(id: 2, lead: Contact(2, "two"), helper: Contact(1, "new")),
    ]
    #expect(teams.provider.data == shown)
    manager.settle()
    #expect(teams.provider.data == shown)
  }

  @Test func `a node inside the first of two values of one node is set`() async throws {
    try await withStore { store in
      let stored = try DataModelManager(store: store)
      for manager in [manager, stored] {
        let contact = DataProvider<Contact>(dataModelManager: manager)
        try await contact.setData(Contact(7, "before")).committed()
        let teams = ListFollower<Team>(manager)
        try await teams.provider.setData([], cacheKey: "teams").committed()
        try await teams.provider.append([
          Team(id: 1, lead: Contact(7, "given")), Team(id: 1, lead: Contact(8)),
        ]).committed()
        #expect(teams.provider.data.map(\.lead) == [Contact(8), Contact(8)])
        #expect(contact.data == Contact(7, "given"))
      }
      #expect(
        try await store.read { try $0.get("Contact:7", as: Contact.self) } == Contact(7, "given"))
      await stored.close()
    }
  }

  @Test func `nothing is left of a collection that has gone`() {
    do {
      let list = follower(Contact.list(1, 2))
      list.provider.append([Contact(3)])
    }
    manager.settle()
    for id in 1...3 {
      #expect(manager.consistencyManager.liveTypes(of: "Contact:\(id)").isEmpty)
    }
  }
}
