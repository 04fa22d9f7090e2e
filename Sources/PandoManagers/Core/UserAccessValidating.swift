/// Says what the present user may see; asked before a call and again before its answer is given.
///
/// ```swift
/// final class Session: UserAccessValidating {
///   let user = Mutex<String?>(nil)
///   var userAccess: UserAccess { user.withLock { $0.map { .init(.remote, user: $0) } ?? .none } }
/// }
/// let found = try await books.all(in: .localOr(.remote()).with(accessValidator: session))
/// ```
///
/// Any thread may ask, several at the same time; must not block.
public protocol UserAccessValidating: Sendable {
  /// What the user may see now.
  var userAccess: UserAccess { get }
}

/// What a user may see.
///
/// ```swift
/// let nobody = UserAccess.none
/// let offline = UserAccess.local  // what is here, and no server
/// let ada = UserAccess(.remote, user: "ada")
/// ```
public struct UserAccess: Sendable, Hashable {
  /// How far the access reaches.
  ///
  /// ```swift
  /// let guest = UserAccess(.local)
  /// if guest.level != .remote { print("the server is not asked") }
  /// ```
  public enum Level: Sendable, Hashable {
    /// Nothing.
    case none
    /// What is kept here.
    case local
    /// What is kept here and on the server.
    case remote
  }

  /// How far the access reaches.
  public var level: Level

  /// Whose access it is: another user's access is not the one that a call began with.
  public var user: String?

  /// Makes an access.
  ///
  /// - Parameters:
  ///   - level: How far it reaches.
  ///   - user: Whose access it is.
  public init(_ level: Level, user: String? = nil) {
    self.level = level
    self.user = user
  }

  /// No access.
  public static var none: UserAccess { UserAccess(.none) }
  /// Access to what is kept here.
  public static var local: UserAccess { UserAccess(.local) }
  /// Access to everything.
  public static var remote: UserAccess { UserAccess(.remote) }
}
