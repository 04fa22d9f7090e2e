import PandoModels

/// What a user could see when a call began.
struct AccessCheck: Sendable {
  private let validator: (any UserAccessValidating)?
  private let access: UserAccess
  private let type: any Entity.Type

  /// Asks for the first time.
  ///
  /// - Throws: ``ManagerError`` `userAccessInvalid` if the user may see nothing at all.
  init(_ validator: (any UserAccessValidating)?, _ type: any Entity.Type) throws {
    self.validator = validator
    self.type = type
    access = validator?.userAccess ?? .remote
    guard access.level != .none else { throw refusal("the user has no access") }
  }

  /// Whether the server may be asked.
  var reachesServer: Bool { access.level == .remote }

  /// Whether a server may be asked.
  ///
  /// - Throws: ``ManagerError`` `userAccessInvalid`.
  func requireServer() throws {
    guard reachesServer else { throw refusal("the user has access to what is kept here only") }
  }

  /// Asks again, before the answer is stored or given.
  ///
  /// - Throws: ``ManagerError`` `userAccessInvalid` if the access is not the one it was any more.
  func confirm() throws {
    guard let validator, validator.userAccess != access else { return }
    throw refusal("the user lost access, or another one came, before the answer did")
  }

  private func refusal(_ reason: String) -> ManagerError {
    ManagerError(.userAccessInvalid, type.modelTypeName, reason)
  }
}
