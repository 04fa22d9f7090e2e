import PandoModels

/// The access that the user had when a call began.
struct AccessCheck: Sendable {
  private let validator: (any UserAccessValidating)?
  private let access: UserAccess
  private let type: any Entity.Type

  /// - Throws: ``ManagerError`` `userAccessInvalid` if the user has no access at all.
  init(_ validator: (any UserAccessValidating)?, _ type: any Entity.Type) throws {
    self.validator = validator
    self.type = type
    access = validator?.userAccess ?? .remote
    guard access.level != .none else { throw refusal("the user has no access") }
  }

  /// Whether the user may read from and write to a server.
  var reachesServer: Bool { access.level == .remote }

  /// - Throws: ``ManagerError`` `userAccessInvalid` if the user has no access to a server.
  func requireServer() throws {
    guard reachesServer else { throw refusal("the user has access to what is kept here only") }
  }

  /// Compares the access again, before an answer is stored or returned.
  ///
  /// - Throws: ``ManagerError`` `userAccessInvalid` if the access has changed.
  func confirm() throws {
    guard let validator, validator.userAccess != access else { return }
    throw refusal("the user lost access, or another one came, before the answer did")
  }

  private func refusal(_ reason: String) -> ManagerError {
    ManagerError(.userAccessInvalid, type.modelTypeName, reason)
  }
}
