import Foundation
import Pando
import Synchronization

extension PandoModels {
  /// Stores people, each in a durable write of its own, from one thread.
  func commitEach(_ people: some Sequence<Person>) throws {
    for person in people { try store.write { try $0.set(person) } }
  }

  /// Stores people, each in a durable write of its own, from many threads at once.
  ///
  /// - Parameters:
  ///   - people: Shared out evenly.
  ///   - writerCount: How many threads there are.
  /// - Throws: An error of one of the threads.
  func commitEach(_ people: [Person], writerCount: Int) throws {
    let writers = Writers()
    let share = (people.count + writerCount - 1) / writerCount
    for start in stride(from: 0, to: people.count, by: share) {
      let own = people[start..<min(start + share, people.count)]
      writers.start { [self] in try commitEach(own) }
    }
    try writers.wait()
  }

  /// A hash of all identifiers in byte order (FNV-1a).
  func fingerprint() throws -> UInt64 {
    try store.read { snapshot in
      var fingerprint = Fingerprint()
      try snapshot.forEachIdentifier { identifier in
        fingerprint.add(identifier.utf8)
        return true
      }
      return fingerprint.value
    }
  }
}

/// Threads that end with success or an error.
private final class Writers: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)

  /// Runs `body` on a thread of its own.
  func start(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    Thread.detachNewThread { [self] in
      do {
        try body()
      } catch {
        failure.withLock { $0 = error }
      }
      group.leave()
    }
  }

  /// Waits for all threads.
  func wait() throws {
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
