/// The reasons for a pause.
///
/// A provider is paused while there is at least one.
struct PauseReasons: OptionSet {
  let rawValue: UInt8

  /// The owner of the provider has paused it.
  static var owner: Self { Self(rawValue: 1) }
  /// The provider's batch is paused.
  static var batch: Self { Self(rawValue: 2) }
  /// Too many callbacks of the provider are queued.
  static var limit: Self { Self(rawValue: 4) }
}
