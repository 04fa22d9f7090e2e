import Dispatch
import Pando

/// Keeps the writer of a store from its work until it is opened.
struct WriterGate {
  private let isOpen = DispatchSemaphore(value: 0)

  init(_ store: ModelStore) {
    let isReached = DispatchSemaphore(value: 0)
    let isOpen = isOpen
    DispatchQueue.global().async {
      try? store.write { _ in
        isReached.signal()
        isOpen.wait()
        isOpen.signal()  // the closure may run again
      }
    }
    isReached.wait()
  }

  func open() { isOpen.signal() }
}
