import CPandoLMDB
import Glibc
import Synchronization

/// Looks for a while whether something has happened, before its caller goes to sleep.
///
/// To put a thread to sleep and wake it costs more than a small commit. So whoever waits for one looks again
/// and again for about as long as that takes; how long is learned: a look that was in vain halves the time,
/// one that was not doubles it. Where commits wait for a disk nobody looks for long.
final class Spinner: Sendable {
  /// The longest time, in nanoseconds.
  private static let longestTime = 50_000
  /// What is left of the time when it is not worth while any more.
  private static let shortestTime = 1_000
  /// After how many waits without a look it is tried again.
  static let skippedCountMaximum = 256
  /// How often the processor is told to take its time between two looks at the clock.
  private static let pauseCount = 16
  /// Whether the other thread can run meanwhile.
  static let isUseful = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

  private let time = Atomic(Spinner.longestTime)
  private let skippedCount = Atomic(0)

  /// Looks whether something has happened until it has, or for as long as it is worth while.
  ///
  /// - Parameter hasHappened: Asked often; reads what another thread writes atomically.
  /// - Returns: Whether it has happened.
  func spin(until hasHappened: () -> Bool) -> Bool {
    if hasHappened() { return true }
    guard Self.isUseful else { return false }
    let time = time.load(ordering: .relaxed)
    if time < Self.shortestTime {
      let skipped = skippedCount.wrappingAdd(1, ordering: .relaxed).newValue
      guard skipped >= Self.skippedCountMaximum else { return false }
      skippedCount.store(0, ordering: .relaxed)
      self.time.store(Self.shortestTime * 8, ordering: .relaxed)
      return spin(until: hasHappened)
    }
    let start = ContinuousClock.now
    repeat {
      for _ in 0..<Self.pauseCount {
        pando_pause()
        if hasHappened() {
          self.time.store(min(2 * time, Self.longestTime), ordering: .relaxed)
          return true
        }
      }
    } while ContinuousClock.now - start < .nanoseconds(time)
    self.time.store(time / 2, ordering: .relaxed)
    return false
  }
}
