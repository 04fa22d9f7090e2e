import Dispatch
import Pando

/// A live collection of many rows and a delegate that receives its changes.
final class LiveRows: Sendable {
  static let key = "rows"

  let manager = DataModelManager()
  private let provider: CollectionDataProvider<LiveAuthor>
  private let listener = ListListener()

  init(count: Int) {
    provider = CollectionDataProvider(dataModelManager: manager)
    provider.delegate = listener
    let rows = (0..<count).map { LiveAuthor(identifier: "row:\($0)", number: 0) }
    provider.setData(rows, cacheKey: Self.key)
    let manager = manager
    waitUntilDone { await manager.drain() }
  }

  /// Makes a change and waits until the delegate has heard of it.
  func change(_ body: () -> Void) {
    body()
    listener.done.wait()
  }

  /// Depends on all rows and their order.
  var checksum: UInt64 {
    provider.data.reduce(0) { sum, row in
      sum &* 31 &+ UInt64(row.number) &+ UInt64(row.identifier.utf8.count)
    }
  }
}

private final class ListListener: CollectionDataProviderDelegate {
  let done = DispatchSemaphore(value: 0)

  func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
    context: (any Sendable)?
  ) {
    done.signal()
  }
}
