import Foundation
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore
import PandoTestSupport

@testable import PandoManagersFixtures

/// An entity whose fields are called otherwise on the wire.
struct Parcel: PersistentEntity, MutableEntity {
  struct Address: Codable, Equatable {
    var code: String
    var memo: String
  }

  struct Line: Codable, Equatable {
    var amountDue: Int
  }

  typealias RemoteID = Int
  var id: EntityIdentifier<Parcel>
  var title: String
  var sentOn: Date?
  var createdBy: EntityIdentifier<Courier>?
  var isFavorite = false
  var courier: EntityIdentifier<Courier>?
  var address: Address?
  var lines: [Line] = []

  static let endpoint: APIPath = "/parcels"
  static let relationships: [EntityRelationship<Parcel>] = [.to(\.courier, "courier")]
  static let wireFields: [WireField<Parcel>] = [
    .named(\.id, "_id"),
    .named(\.sentOn, "sent_on"),
    .readOnly(\.createdBy, "created_by"),
    .localOnly(\.isFavorite, default: false),
    .named(\.courier, "courier_id"),
    .within(
      \.address, [.named(\.code, "zip"), .localOnly(\.memo, default: "new")], as: "addr"),
    .each(\.lines, [.named(\.amountDue, "amount_due")]),
  ]

  static func payload(for path: RemotePath<Parcel>) -> RemotePayload<Parcel> {
    guard case .search = path else { return .content }
    var payload = RemotePayload<Parcel>.under("parcels")
      .including(Courier.self, under: "more", "couriers").skippingMalformed
    payload.isFilteredHere = true
    return payload
  }

  func withIdentifier(_ id: EntityIdentifier<Parcel>) -> Parcel {
    var parcel = self
    parcel.id = id
    return parcel
  }
}

/// Who brings a parcel.
struct Courier: PersistentEntity, MutableEntity {
  var id: EntityIdentifier<Courier>
  var fullName: String
  var nickName: String?

  static let endpoint: APIPath = "/couriers"
  static let wireFields: [WireField<Courier>] = [
    .named(\.fullName, "full_name"), .localOnly(\.nickName, default: nil),
  ]

  func withIdentifier(_ id: EntityIdentifier<Courier>) -> Courier {
    var courier = self
    courier.id = id
    return courier
  }
}

/// An entity that holds others.
struct Van: PersistentEntity, RemoteEntity {
  var id: EntityIdentifier<Van>
  var driver: Courier?
  var others: [Courier]

  static let endpoint: APIPath = "/vans"
  static let wireFields: [WireField<Van>] = [
    .within(\.driver, Courier.wireFields, as: "driven_by"), .each(\.others, Courier.wireFields),
  ]
}

/// What the same rules are tried on, on disk and in memory.
protocol Marked: MutableEntity, LocalEntity where RemoteID == Int {
  init(_ id: EntityIdentifier<Self>, _ title: String, _ mark: String)
  var id: EntityIdentifier<Self> { get set }
  var title: String { get set }
  var mark: String { get set }
  static var fields: [Field<Self>] { get }
}

extension Marked {
  static var endpoint: APIPath { "/marks" }

  func withIdentifier(_ id: EntityIdentifier<Self>) -> Self { Self(id, title, mark) }
}

struct DiskMark: Marked, PersistentEntity {
  var id: EntityIdentifier<DiskMark>
  var title: String
  var mark: String

  static let fields: [Field<DiskMark>] = [.field(\.mark)]
  static let wireFields: [WireField<DiskMark>] = [
    .named(\.title, "name"), .localOnly(\.mark, default: "none"),
  ]

  init(_ id: EntityIdentifier<DiskMark>, _ title: String, _ mark: String) {
    (self.id, self.title, self.mark) = (id, title, mark)
  }
}

struct MemoryMark: Marked {
  var id: EntityIdentifier<MemoryMark>
  var title: String
  var mark: String

  static let fields: [Field<MemoryMark>] = [.field(\.mark)]
  static let wireFields: [WireField<MemoryMark>] = [
    .named(\.title, "name"), .localOnly(\.mark, default: "none"),
  ]

  init(_ id: EntityIdentifier<MemoryMark>, _ title: String, _ mark: String) {
    (self.id, self.title, self.mark) = (id, title, mark)
  }
}
