import Pando

/// Something on the screen that follows entities by itself.
@MainActor
protocol ContentView: AnyObject {
  /// The title above it.
  var title: String { get }

  /// Waits until it shows what a plain read gives.
  func settled() async throws -> String
}

/// A view that shows a followed value as text.
@MainActor
final class View<Value: Sendable>: ContentView {
  let title: String
  private var content: String?
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var failure: (any Error)?
  private var task: Task<Void, Never>?
  private let read: () async throws -> Value
  private let text: (Value) -> String

  /// Makes a view.
  ///
  /// - Parameters:
  ///   - title: The title above it.
  ///   - sequence: The sequence that it follows.
  ///   - read: Reads the same once.
  ///   - text: Makes the shown text of a value.
  init(
    _ title: String, _ sequence: some AsyncSequence<Value, any Error> & Sendable,
    read: @escaping () async throws -> Value, text: @escaping (Value) -> String
  ) {
    self.title = title
    self.read = read
    self.text = text
    task = Task { [weak self] in
      do {
        for try await value in sequence { self?.show(value) }
      } catch {
        self?.fail(error)
      }
    }
  }

  deinit { task?.cancel() }

  func settled() async throws -> String {
    while true {
      let expected = text(try await read())
      if content == expected { return expected }
      if let failure { throw failure }
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func show(_ value: Value) {
    content = text(value)
    wake()
  }

  private func fail(_ error: any Error) {
    failure = error
    wake()
  }

  private func wake() {
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
