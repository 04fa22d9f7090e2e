import Foundation
import PandoFixtures
import PandoManagers
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem
import Testing

@testable import PandoManagersFixtures
@testable import PandoRemote

@Suite struct IdentifierMergeTests {
  /// A server that names what is made, from 42 on, and answers once it may.
  private static func library(_ mayAnswer: Event?) -> TestServer.Handler {
    let next = Locked(42)
    return { request in
      if request.method == "POST" {
        mayAnswer?.wait()
        let id = next.withLock { next in
          defer { next += 1 }
          return next
        }
        if request.target == "/writers" {
          return .status(201, [:], #"{"writer":{"id":"w\#(id)","name":"Ada"}}"#)
        }
        return .status(201, [:], #"{"id":\#(id),"title":"Dune","edition":1}"#)
      }
      return .status(204)
    }
  }

  private func set<E: RemoteEntity & PersistentEntity>(
    _ entity: E, _ fixture: QueueFixture
  ) async throws -> any QueuedWrite<E> {
    let write = try RemoteStore<E>(clientQueue: fixture.queue).request(
      toSet: [entity], in: .localAndRemote)
    try await fixture.store.write { transaction in
      _ = try transaction.apply([entity], asOf: nil)
      try write.enqueue(&transaction)
    }
    write.committed()
    return write
  }

  @Test func `queued requests and stored entities get the identifier in one commit`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with(Self.library(mayAnswer)) { fixture in
      let writer = Writer(id: .local("new-writer"), name: "Ada")
      var volume = Volume(id: .local("new-volume"), title: "Dune", writer: writer.id)
      let madeWriter = try await set(writer, fixture)
      _ = try await set(volume, fixture)
      volume.title = "Dune Messiah"
      let edited = try await set(volume, fixture)
      try await fixture.store.write { [volume] transaction in
        try transaction.set(
          Bookcase(modelIdentifier: "Bookcase:1", first: volume, others: [volume]))
        try transaction.setCollection("new", to: [volume])
      }
      await fixture.server.received(1)
      #expect(
        try fixture.rows() == [
          "inFlight POST /writers", "waiting POST /volumes",
          "waiting PUT /volumes/local:new-volume",
        ])
      let commits = Locked<[ChangeSet]>([])
      fixture.store.setCommitHandler { set in commits.withLock { $0.append(set) } }
      mayAnswer.signal()
      #expect(try await madeWriter.answer().map(\.id) == [.remote("w42")])
      let stored = try await edited.answer()
      #expect(
        stored == [
          Volume(id: .remote(43), title: "Dune Messiah", writer: .remote("w42"))
        ])

      let sent = fixture.server.requests
      #expect(sent.map(\.description) == ["POST /writers", "POST /volumes", "PUT /volumes/43"])
      #expect(sent[0].body == #"{"id":"local:new-writer","name":"Ada"}"#)
      #expect(sent[1].body == #"{"id":"local:new-volume","title":"Dune","writer":"w42"}"#)
      #expect(sent[2].body == #"{"id":43,"title":"Dune Messiah","writer":"w42"}"#)

      // One commit each: who reads sees the old identifier everywhere or the new one.
      let renaming = commits.withLock { $0 }.filter {
        $0.deleted.contains("Volume:local:new-volume")
      }
      #expect(renaming.count == 1)
      #expect(renaming.first?.inserted == ["Volume:43"])
      #expect(renaming.first?.updated.contains("Bookcase:1") == true)
      try fixture.store.readAndWait { snapshot in
        #expect(try snapshot.contains("Volume:local:new-volume") == false)
        let shelf = try #require(try snapshot.get("Bookcase:1", as: Bookcase.self))
        #expect(shelf.first.id == .remote(43) && shelf.others.map(\.id) == [.remote(43)])
        #expect(
          try snapshot.collection("new", as: Volume.self)?.map(\.id) == [.remote(43)])
        #expect(try snapshot.currentIdentifier(of: volume.id) == .remote(43))
        #expect(try snapshot.currentIdentifier(of: "Writer:local:new-writer") == "Writer:w42")
        #expect(try snapshot.queuedRequests().isEmpty)
        #expect(try snapshot.hasQueuedRequests(for: "Volume:local:new-volume") == false)
        #expect(try snapshot.hasQueuedRequests(for: "Volume:43") == false)
      }
      #expect(try fixture.store.verify().problems.isEmpty)
    }
  }

  /// The volume was as new as the transaction, so the answers to its waiting writes came too late.
  @Test func `an entity keeps its sequence number if one that it names is renamed before`()
    async throws
  {
    try await QueueFixture.with({ _ in .status(204) }) { fixture in
      let writer = Writer(id: .local("a"), name: "Ada")
      let volume = Volume(id: .local("b"), title: "Dune", writer: writer.id)
      try await fixture.store.write { transaction in
        _ = try transaction.apply([writer], asOf: nil)
        _ = try transaction.apply([volume], asOf: nil)
      }
      let before = try await fixture.store.read {
        try $0.sequenceState(of: volume.id.modelIdentifier).sequenceNumber
      }
      try await fixture.store.write { transaction in
        let types: [any Entity.Type] = [Writer.self, Volume.self]
        try IdentifierMerge(old: writer.id, new: .remote("w1"), relatedTypes: types)
          .carryOut(in: &transaction) { $0.withIdentifier(.remote("w1")) }
        try IdentifierMerge(old: volume.id, new: .remote(1), relatedTypes: types)
          .carryOut(in: &transaction) { $0.withIdentifier(.remote(1)) }
      }
      let (after, stored) = try await fixture.store.read { snapshot in
        (
          try snapshot.sequenceState(of: "Volume:1").sequenceNumber,
          try snapshot.get("Volume:1", as: Volume.self)
        )
      }
      #expect(after == before)
      #expect(stored?.writer == .remote("w1"))
    }
  }

  @Test func `a provider of a tree around it shows the new identifier`() async throws {
    let mayAnswer = Event()
    try await QueueFixture.with(Self.library(mayAnswer)) { fixture in
      let volume = Volume(id: .local("v"), title: "Dune")
      let made = try await set(volume, fixture)
      let shelf = Bookcase(modelIdentifier: "Bookcase:1", first: volume, others: [])
      try await fixture.store.write { try $0.set(shelf) }
      let manager = try DataModelManager(store: fixture.store)
      let provider = DataProvider<Bookcase>(dataModelManager: manager)
      _ = try await provider.fetchDataFromCache(withCacheKey: "Bookcase:1")
      var values = provider.values.makeAsyncIterator()
      #expect(try await values.next()??.first.id == volume.id)
      mayAnswer.signal()
      _ = try await made.answer()
      #expect(try await values.next()??.first.id == .remote(42))
      await manager.close()
    }
  }

  @Test
  func `the answer to a create gives the identifier, and an edit keeps its fields`()
    async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with(Self.library(mayAnswer)) { fixture in
      var volume = Volume(id: .local("v"), title: "Dune")
      let made = try await set(volume, fixture)
      await fixture.server.received(1)
      volume.title = "Edited"
      let edit = volume
      try await fixture.store.write { _ = try $0.apply([edit], asOf: nil) }
      let editPlace = try await fixture.store.read {
        try $0.sequenceState(of: "Volume:local:v").sequenceNumber
      }
      mayAnswer.signal()
      #expect(try await made.answer() == [edit.withIdentifier(.remote(42))])
      let state = try await fixture.store.read { try $0.sequenceState(of: "Volume:42") }
      #expect(state.sequenceNumber == editPlace, "it is as new as the edit")
      #expect(!state.isDated)
    }
  }

  @Test func `an entity that was removed while the server made it does not come back`() async throws
  {
    let mayAnswer = Event()
    try await QueueFixture.with(Self.library(mayAnswer)) { fixture in
      let volume = Volume(id: .local("v"), title: "Dune")
      let made = try await set(volume, fixture)
      await fixture.server.received(1)
      let removal = try RemoteStore<Volume>(clientQueue: fixture.queue).request(
        toRemove: [volume.id], in: .localAndRemote)
      try await fixture.store.write { transaction in
        try transaction.removeEntities([volume.id], asOf: nil)
        try removal.enqueue(&transaction)
      }
      removal.committed()
      mayAnswer.signal()
      #expect(try await made.answer() == [])
      _ = try await removal.answer()
      #expect(
        fixture.server.requests.map(\.description) == ["POST /volumes", "DELETE /volumes/42"])
      #expect(try await fixture.store.read { try $0.identifiers(ofType: "Volume") } == [])
    }
  }

  @Test func `a request that names an entity whose making was refused is refused too`() async throws
  {
    try await QueueFixture.with { request in
      request.target == "/volumes" ? .status(500) : .json("{}")
    } _: { fixture in
      let volume = Volume(id: .local("v"), title: "Dune")
      let made = try await set(volume, fixture)
      let edited = try await set(volume, fixture)
      let first = await apiError { try await made.answer() }
      #expect(first?.code == .serverFailed)
      let second = await apiError { try await edited.answer() }
      #expect(second?.code == .localIdentifier || second?.code == .serverFailed)
      let put = fixture.queue.ticket(for: APIRequest(.put, "/volumes/\(volume.id)"))
      try await fixture.store.write { try put.enqueue(in: &$0) }
      put.committed()
      let error = await apiError { try await put.confirmation() }
      #expect(error?.code == .localIdentifier)
      #expect(
        error?.description
          == "PUT /volumes/local:v: the server does not know Volume:local:v: the request that would "
          + "have made it known was refused or dropped, or there was none")
    }
  }

  @Test func `a stale identifier in a late request is the new one on the way`() async throws {
    try await QueueFixture.with(Self.library(nil)) { fixture in
      let volume = Volume(id: .local("v"), title: "Dune")
      _ = try await set(volume, fixture).answer()
      let late = APIRequest(
        .put, "/volumes/\(volume.id)/cover", query: [.init("like", "1,local:v")],
        headers: ["X-Volume": "local:v"], body: try APIBody(json: ["of": [volume.id]]))
      _ = try await fixture.queue.send(late)
      let sent = try #require(fixture.server.requests.last)
      #expect(sent.target == "/volumes/42/cover?like=1%2C42")
      #expect(sent.headers["x-volume"] == "42")
      #expect(sent.body == #"{"of":[42]}"#)
    }
  }

  @Test func `the server's identifier can come as the place of what was made`() async throws {
    try await QueueFixture.with { _ in
      .status(201, ["Location": "/volumes/99"])
    } _: { fixture in
      let volume = Volume(id: .local("v"), title: "Dune")
      let stored = try await set(volume, fixture).answer()
      #expect(stored == [volume.withIdentifier(.remote(99))])
    }
  }

  @Test func `a server that makes something and does not name it is an error, and not asked twice`()
    async throws
  {
    try await QueueFixture.with { _ in
      .status(201)
    } _: { fixture in
      let volume = Volume(id: .local("v"), title: "Dune")
      let write = try await set(volume, fixture)
      let error = await apiError { try await write.answer() }
      #expect(error?.code == .malformedAnswer)
      #expect(
        error?.description
          == "POST /volumes: the server made Volume and did not say under which identifier")
      #expect(try fixture.rows() == ["failed POST /volumes"])
      #expect(try await fixture.store.read { try $0.contains("Volume:local:v") })
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test func `one text for two entities is refused before anything is written`() async throws {
    try await QueueFixture.with { _ in
      .json("{}")
    } _: { fixture in
      let volume = Volume(id: .local("same"), title: "Dune", writer: .local("same"))
      let write = try RemoteStore<Volume>(clientQueue: fixture.queue).request(
        toSet: [volume], in: .localAndRemote)
      let error = await apiError {
        try await fixture.store.write { transaction in
          _ = try transaction.apply([volume], asOf: nil)
          try write.enqueue(&transaction)
        }
      }
      #expect(error?.code == .invalidRequest)
      #expect(try await fixture.store.read { try $0.contains("Volume:local:same") } == false)
    }
  }
}

extension IdentifierMergeTests {
  @Test func `an entity that was refused is made anew, or its removal sends nothing`() async throws
  {
    let isReady = Locked(false)
    try await QueueFixture.with { _ in
      isReady.withLock { $0 } ? .status(201, [:], #"{"id":42,"title":"Dune"}"#) : .status(500)
    } _: { fixture in
      let (first, second) = (
        Volume(id: .local("1"), title: "Dune"), Volume(id: .local("2"), title: "Emma")
      )
      for volume in [first, second] {
        let write = try await set(volume, fixture)
        let error = await apiError { try await write.answer() }
        #expect(error?.code == .serverFailed)
      }
      #expect(try fixture.rows() == ["failed POST /volumes", "failed POST /volumes"])
      isReady.withLock { $0 = true }
      let again = try await set(first, fixture).answer()
      #expect(again.map(\.id) == [.remote(42)])
      let removal = try RemoteStore<Volume>(clientQueue: fixture.queue).request(
        toRemove: [second.id], in: .localAndRemote)
      try await fixture.store.write { transaction in
        try transaction.removeEntities([second.id], asOf: nil)
        try removal.enqueue(&transaction)
      }
      removal.committed()
      _ = try await removal.answer()
      #expect(try fixture.rows() == [])
      #expect(fixture.server.requests.map(\.method) == ["POST", "POST", "POST"])
    }
  }
}

extension IdentifierMergeTests {
  @Test func `the old identifier still finds and changes the entity`()
    async throws
  {
    try await QueueFixture.with(Self.library(nil)) { fixture in
      let writer = Writer(id: .local("a"), name: "Ada")
      var volume = Volume(id: .local("v"), title: "Dune", writer: writer.id)
      _ = try await set(writer, fixture).answer()
      _ = try await set(volume, fixture).answer()
      let disk = DiskStore<Volume>(modelStore: fixture.store)
      let found = try await disk.get(
        withQuery: Query(ids: [volume.id, .remote(43)]), in: .local)
      #expect(found.entities.map(\.id) == [.remote(43)])

      volume.title = "Dune Messiah"
      let stored = try await disk.set([volume], in: .local)
      let now = Volume(id: .remote(43), title: "Dune Messiah", writer: .remote("w42"), edition: nil)
      #expect(stored == [now])
      _ = try await set(volume, fixture).answer()
      #expect(fixture.server.requests.last?.description == "PUT /volumes/43")
      #expect(
        try await fixture.store.read { try $0.identifiers(ofType: "Volume") } == ["Volume:43"])

      try await disk.remove([volume.id], in: .local)
      #expect(try await fixture.store.read { try $0.identifiers(ofType: "Volume") } == [])
    }
  }
}
