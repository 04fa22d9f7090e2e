/// Whether a server has the stored value of an entity.
///
/// ```swift
/// let state = try store.read { try $0.synchronizationState(of: book.id) }
/// if state == .refused { print("the server has refused a write") }
/// ```
public enum SynchronizationState: String, Sendable, Codable, CaseIterable {
  /// A server has sent or confirmed the stored value. Fields that the server does not have may have changed since.
  case synced
  /// No write of it waits, and no server has confirmed the stored value: it was written in the context `local`, has
  /// changed since a server sent it, or its type kept stored fields when a response arrived.
  case unsynced
  /// A write of the entity waits for the server.
  case pending
  /// The stored value contains a write that the server has refused; see `RemoteEntity.refusalPolicy`.
  case refused
}
