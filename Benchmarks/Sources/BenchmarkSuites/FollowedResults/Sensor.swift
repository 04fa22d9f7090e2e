import Pando

/// An entity that changes often.
struct Sensor: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Sensor>
  var room: Int
  var degrees: Int

  static let fields: [Field<Sensor>] = [.field(\.room, "room"), .field(\.degrees, "degrees")]
}
