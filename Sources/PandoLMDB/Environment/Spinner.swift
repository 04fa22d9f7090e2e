import CPandoLMDB
import Glibc
import Synchronization

/// Polls a condition for a while before the caller sleeps.
///
/// Putting a thread to sleep and waking it costs more than a small commit. So a waiting thread
/// first spins for about that long. The spinner adapts: a futile spin halves the time, a successful
/// one doubles it. With commits that wait for a disk, threads hardly spin.
final class Spinner: Sendable {
  /// The longest time, in nanoseconds.
  private static let longestTime = 50_000
  /// The time below which spinning is skipped.
  private static let shortestTime = 1_000
  /// The number of skipped spins after which spinning is tried again.
  static let skippedCountMaximum = 256
  /// How many pause instructions run between two reads of the clock.
  private static let pauseCount = 16
  /// Whether the other thread can run meanwhile.
  static let isUseful = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

  private let time = Atomic(Spinner.longestTime)
  private let skippedCount = Atomic(0)

  /// Spins until the condition holds, or for as long as that is worthwhile.
  ///
  /// - Parameter hasHappened: The condition, called often; an atomic load.
  /// - Returns: Whether the condition holds.
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
