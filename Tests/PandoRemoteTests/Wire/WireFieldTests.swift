import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoSystem
import PandoTestSupport
import Testing

@testable import PandoManagersFixtures

/// What is sent and what is read where a type declares how its fields look on the wire.
@Suite struct WireFieldTests {
  private static let parcel = Parcel(
    id: .remote(7), title: "Tea", sentOn: Date(timeIntervalSince1970: 0),
    createdBy: .local("nobody"), isFavorite: true, courier: .remote("c"),
    address: Parcel.Address(code: "1010", memo: "ring twice"),
    lines: [Parcel.Line(amountDue: 3), Parcel.Line(amountDue: 4)])

  private static let sent =
    #""addr":{"zip":"1010"},"courier_id":"c","lines":[{"amount_due":3},{"amount_due":4}],"#
    + #""sent_on":"1970-01-01T00:00:00Z","title":"Tea"}"#

  @Test func `a request has the names of the wire, and no field that the server sets`() throws {
    let body = try APIBody(entity: Self.parcel)
    #expect(String(decoding: body.bytes, as: UTF8.self) == #"{"_id":7,"# + Self.sent)
    #expect(body.localIdentifiers.isEmpty, "what is not sent need not be known")
    let create = try Parcel.request(for: .create(Self.parcel.withIdentifier(.local("x"))))
    let bytes = create?.body?.bytes ?? Data()
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"_id":"local:x","# + Self.sent)
    #expect(create?.body?.localIdentifiers == ["Parcel:local:x"])
    let wrapped = try APIBody(entity: Self.parcel, under: "data", "parcel")
    #expect(
      String(decoding: wrapped.bytes, as: UTF8.self)
        == #"{"data":{"parcel":{"_id":7,"# + Self.sent + "}}")
  }

  @Test func `one, lists and what is included are read under the names of the wire`() async throws {
    let server = APIClientDouble()
    let one =
      #"{"_id":7,"title":"Tea","created_by":"c","addr":{"zip":"1010","memo":"theirs"},"#
      + #""lines":[{"amount_due":3}],"isFavorite":true,"sentOn":"no date"}"#
    server.answer(.get, "/parcels/7", json: one)
    server.answer(
      .get, "/parcels",
      json: #"{"parcels":[\#(one),{"_id":8,"title":"Oil","lines":[]},{"_id":9,"lines":[]}],"#
        + #""more":{"couriers":[{"id":"c","full_name":"Cy"}]}}"#)
    try await withModelStore { store in
      let events = Locked<[ManagerEvent]>([])
      let container = try CoreManagerContainer(
        entities: Parcel.self, Courier.self, client: server, diskStoreConfig: .store(store),
        events: { event in events.withLock { $0.append(event) } })
      let expected = Parcel(
        id: .remote(7), title: "Tea", createdBy: .remote("c"),
        address: Parcel.Address(code: "1010", memo: "new"), lines: [Parcel.Line(amountDue: 3)])
      #expect(try await container[Parcel.self].get(byID: .remote(7), in: .remote()) == expected)
      let all = try await container[Parcel.self].all(in: .remote()).entities
      #expect(all == [expected, Parcel(id: .remote(8), title: "Oil")])
      #expect(
        events.withLock { $0.map(\.description) } == [
          "Parcel: malformedElement: GET /parcels: the answer is no Parcel: $.parcels[2]: there is "
            + #"no "title""#
        ])
      let courier = try await container[Courier.self].get(byID: .remote("c"))
      #expect(courier == Courier(id: .remote("c"), fullName: "Cy"))
      // On disk the fields have their own names.
      let fields = try await store.read { try $0.tree("Parcel:7", as: "Parcel", depth: 0)?.fields }
      #expect(fields?["lines"]?[0]?["amountDue"] == 3)
      #expect(fields?["_id"] == nil)
      await container.close()
    }
  }

  @Test(arguments: [
    (
      #"{"_id":7,"title":"Tea","lines":[{"amountDue":3}]}"#,
      #"$.lines[0]: there is no "amount_due""#
    ),
    (#"{"id":7,"title":"Tea","lines":[]}"#, #"$: there is no "_id""#),
    (#"{"_id":7,"title":"Tea","lines":[],"addr":{"zip":1}}"#, "$.addr.zip: expected String"),
    (#"{"_id":7,"title":"Tea","lines":[],"addr":{}}"#, #"$.addr: there is no "zip""#),
    (#"{"_id":7,"title":"Te"#, "line 1, column 18: the text that begins here has no end"),
  ])
  func `errors name the place on the wire`(json: String, place: String) async throws {
    let server = APIClientDouble()
    server.answer(.get, "/parcels/7", json: json)
    let queue = APIClientQueue(client: server)
    let error = await apiError {
      try await RemoteStore<Parcel>(clientQueue: queue)
        .fetch(Query(ids: [.remote(7)]), in: .remote())
    }
    #expect(error?.code == .malformedAnswer)
    #expect(error?.description.hasSuffix(place) == true, "\(error as Any)")
    await queue.close()
  }

  @Test func `identifiers in queued bodies are replaced under wire names`() async throws {
    let server = APIClientDouble()
    server.isOffline = true
    server.answer(.post, "/couriers", json: #"{"id":"c7","full_name":"Cy"}"#)
    server.answer(.post, "/parcels", json: #"{"_id":1,"title":"Tea","courier_id":"c7","lines":[]}"#)
    server.answer(.put, "/parcels/1", json: "")
    try await withModelStore { store in
      let container = try CoreManagerContainer(
        entities: Parcel.self, Courier.self, client: server, diskStoreConfig: .store(store))
      let courier = Courier(id: .local("c"), fullName: "Cy", nickName: "the fast")
      let made = try await container[Courier.self].set(courier, in: .localAndRemote)
      var parcel = Parcel(id: .local("p"), title: "Tea", isFavorite: true, courier: courier.id)
      let sent = try await container[Parcel.self].set(parcel, in: .localAndRemote)
      parcel.lines = [Parcel.Line(amountDue: 1)]
      let changed = try await container[Parcel.self].set(parcel, in: .localAndRemote)
      server.isOffline = false
      container.clientQueue?.flush()
      #expect(try await made.confirmed().nickName == "the fast")
      #expect(try await sent.confirmed().isFavorite)
      #expect(try await changed.confirmed().lines == parcel.lines)
      #expect(
        server.bodies == [
          #"{"full_name":"Cy","id":"local:c"}"#,
          #"{"_id":"local:p","courier_id":"c7","lines":[],"title":"Tea"}"#,
          #"{"_id":1,"courier_id":"c7","lines":[{"amount_due":1}],"title":"Tea"}"#,
        ])
      let stored = try await container[Parcel.self].get(byID: .remote(1))
      #expect(stored?.isFavorite == true)
      #expect(stored?.courier == .remote("c7"))
      await container.close()
    }
  }

  @Test func `a wire name without a coded field is reported before any request`() throws {
    let error = #expect(throws: EncodingError.self) {
      try APIBody(entity: Misnamed(id: .remote("a"), secret: "s"))
    }
    #expect("\(error as Any)".contains("wireFields of Misnamed name secret"))
    let silent = try APIBody(entity: Misnamed(id: .remote("a")))
    #expect(String(decoding: silent.bytes, as: UTF8.self) == #"{"id":"a"}"#)
  }

  @Test func `coding keys are those that the type declares, or that are given`() throws {
    let body = try APIBody(entity: Coded(id: .remote("a"), due: 3, secret: "s"))
    #expect(String(decoding: body.bytes, as: UTF8.self) == #"{"due_date":3,"id":"a"}"#)
  }

  @Test func `coders of the type's own go on working`() async throws {
    let server = APIClientDouble()
    server.answer(.get, "/snakes/a", json: #"{"id":"a","long_name":"Kaa","tail_length":3}"#)
    let queue = APIClientQueue(client: server)
    let found = try await RemoteStore<Snake>(clientQueue: queue)
      .fetch(Query(ids: [.remote("a")]), in: .remote()).result.first
    #expect(found == Snake(id: .remote("a"), longName: "Kaa", bodyLength: 3, isNear: false))
    let body = try APIBody(
      entity: Snake(id: .remote("a"), longName: "Kaa", bodyLength: 3, isNear: true))
    #expect(
      String(decoding: body.bytes, as: UTF8.self)
        == #"{"id":"a","long_name":"Kaa","tail_length":3}"#)
    await queue.close()
  }

  @Test func `a name on the wire is never read as a field that is coded under it`() async throws {
    let server = APIClientDouble()
    server.answer(.get, "/adders/a", json: #"{"id":"a","name":"Kaa"}"#)
    let queue = APIClientQueue(client: server)
    let found = try await RemoteStore<Adder>(clientQueue: queue)
      .fetch(Query(ids: [.remote("a")]), in: .remote()).result.first
    #expect(found == Adder(id: .remote("a"), title: "Kaa", name: nil))
    await queue.close()
  }

  @Test func `a field is not read under the name that the decoder would convert`() async throws {
    let server = APIClientDouble()
    server.answer(.get, "/boas/a", json: #"{"id":"a","body_length":3}"#)
    let queue = APIClientQueue(client: server)
    let found = try await RemoteStore<Boa>(clientQueue: queue)
      .fetch(Query(ids: [.remote("a")]), in: .remote()).result.first
    #expect(found == Boa(id: .remote("a")))
    await queue.close()
  }
}

private struct Snake: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Snake>
  var longName: String
  var bodyLength: Int
  var isNear: Bool

  static let endpoint: APIPath = "/snakes"
  static let wireFields: [WireField<Snake>] = [
    .named(\.bodyLength, "tail_length"), .localOnly(\.isNear, default: false),
  ]

  static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  static func makeEncoder() -> JSONEncoder {
    let encoder = APIBody.makeEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return encoder
  }
}

private struct Misnamed: PersistentEntity, RemoteEntity {
  enum CodingKeys: String, CodingKey { case id, secret = "hidden" }
  var id: EntityIdentifier<Misnamed>
  var secret: String?
  static let wireFields: [WireField<Misnamed>] = [.localOnly(\.secret, default: nil)]
}

private struct Coded: PersistentEntity, RemoteEntity {
  enum CodingKeys: String, CodingKey { case id, due = "dueDate", secret = "hidden" }
  var id: EntityIdentifier<Coded>
  var due: Int
  var secret: String
  static let fields: [Field<Coded>] = [.field(\.due, "dueDate")]
  static let wireFields: [WireField<Coded>] = [
    .named(\.due, "due_date"), .localOnly(\.secret, default: "", coded: "hidden"),
  ]
}

/// One of whose fields has the name that another one has on the wire.
private struct Adder: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Adder>
  var title: String
  var name: String?

  static let endpoint: APIPath = "/adders"
  static let wireFields: [WireField<Adder>] = [.named(\.title, "name")]
}

/// Whose decoder converts names, and whose encoder does not.
private struct Boa: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Boa>
  var bodyLength: Int?

  static let endpoint: APIPath = "/boas"
  static let wireFields: [WireField<Boa>] = [.named(\.bodyLength, "tail_length")]

  static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }
}
