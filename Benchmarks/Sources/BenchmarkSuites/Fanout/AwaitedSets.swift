import Foundation
import Pando

/// A provider whose model is set again and again, each time when the set before is committed.
final class AwaitedSets: Sendable {
  private let manager: DataModelManager
  private let provider: DataProvider<LiveAuthor>
  private let listener: DataProvider<LiveAuthor>?
  private let delegate = SilentDelegate()

  /// Sets the model for the first time.
  ///
  /// - Parameters:
  ///   - store: Where it is stored; `nil` for nowhere.
  ///   - isHeard: Whether another provider shows the model, with a delegate that is called.
  /// - Throws: The error of the set.
  init(store: ModelStore?, isHeard: Bool) throws {
    manager = try store.map { try DataModelManager(store: $0) } ?? DataModelManager()
    provider = DataProvider(dataModelManager: manager)
    listener = isHeard ? DataProvider(dataModelManager: manager) : nil
    listener?.delegate = delegate
    listener?.setData(Self.author(0))
    // So that what is made at first use is there.
    try set(0..<100, Latencies(stride: 1))
  }

  deinit {
    waitUntilDone { [manager] in await manager.close() }
  }

  /// Sets the model in one task, and waits until all delegates have been called.
  func set(_ numbers: Range<Int>, _ latencies: Latencies) throws {
    let shared = ThreadLatencies([latencies])
    let outcome = TaskOutcome<Void>()
    waitUntilDone { [manager, provider] in
      await outcome.run {
        for number in numbers {
          try await shared[0].timeWaiting {
            _ = try await provider.setData(Self.author(number)).committed()
          }
        }
      }
      await manager.drain()
    }
    try outcome.value()
  }

  /// The checksum of the shown models.
  var checksum: UInt64 {
    let shown = [provider.data, listener?.data].map { UInt64($0?.number ?? 0) }
    return shown.reduce(0) { $0 << 32 + $1 }
  }

  private static func author(_ number: Int) -> LiveAuthor {
    LiveAuthor(identifier: "author:0", number: number)
  }
}

/// A delegate that does nothing when it is called.
private final class SilentDelegate: DataProviderDelegate {
  func dataProviderHasUpdatedData<T>(
    _ dataProvider: DataProvider<T>, context: (any Sendable)?
  ) {}
}
