/// Why a provider stands still; it does while there is any reason.
struct PauseReasons: OptionSet {
  let rawValue: UInt8

  /// Its owner has paused it.
  static var owner: Self { Self(rawValue: 1) }
  /// Its batch is paused.
  static var batch: Self { Self(rawValue: 2) }
  /// It has too many callbacks that are not delivered.
  static var limit: Self { Self(rawValue: 4) }
}
