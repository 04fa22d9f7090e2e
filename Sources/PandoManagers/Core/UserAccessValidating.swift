/// The access of the present user, checked before a call and again before its answer is returned.
///
/// ```swift
/// final class Session: UserAccessValidating {
///   let user = Mutex<String?>(nil)
///   var userAccess: UserAccess { user.withLock { $0.map { .init(.remote, user: $0) } ?? .none } }
/// }
/// let found = try await books.all(in: .localOr(.remote()).with(accessValidator: session))
/// ```
///
/// Any thread may call it, several at the same time. It must not block.
public protocol UserAccessValidating: Sendable {
  /// The access that the user has now.
  var userAccess: UserAccess { get }
}

/// The access of a user.
///
/// ```swift
/// let signedOut = UserAccess.none
/// let offline = UserAccess.local  // local stores, and no server
/// let ada = UserAccess(.remote, user: "ada")
/// ```
public struct UserAccess: Sendable, Hashable {
  /// The stores that a user may read.
  ///
  /// ```swift
  /// let guest = UserAccess(.local)
  /// if guest.level != .remote { print("no request is sent") }
  /// ```
  public enum Level: Sendable, Hashable {
    /// No store.
    case none
    /// The local stores.
    case local
    /// The local stores and the server.
    case remote
  }

  /// The stores that the user may read.
  public var level: Level

  /// The user; a change of the user during a call fails the call.
  public var user: String?

  /// Makes an access.
  ///
  /// - Parameters:
  ///   - level: The stores that the user may read.
  ///   - user: The user.
  public init(_ level: Level, user: String? = nil) {
    self.level = level
    self.user = user
  }

  /// No access.
  public static var none: UserAccess { UserAccess(.none) }
  /// Access to the local stores.
  public static var local: UserAccess { UserAccess(.local) }
  /// Access to the local stores and the server.
  public static var remote: UserAccess { UserAccess(.remote) }
}
