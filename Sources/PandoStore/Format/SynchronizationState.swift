/// Whether a server has an entity as it is here.
///
/// ```swift
/// let state = try store.read { try $0.synchronizationState(of: book.id) }
/// if state == .refused { print("the server does not want it") }
/// ```
public enum SynchronizationState: String, Sendable, Codable, CaseIterable {
  /// A server has sent or confirmed it as it is here; fields that the server does not know may have changed since.
  case synced
  /// No write of it waits, and no server has said that it has it as it is here: it was written here only, in the
  /// context `local`, has changed here since, or its type kept something of that when an answer came.
  case unsynced
  /// Something was written here that the server does not have yet.
  case pending
  /// Something that the server has refused is still here; see `RemoteEntity.refusalPolicy`.
  case refused
}
