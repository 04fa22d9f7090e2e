import Pando

/// An entity that changes often.
@Model struct Sensor: PersistentEntity {
  typealias RemoteID = Int
  var id: EntityIdentifier<Sensor>
  var room: Int
  var degrees: Int
}
