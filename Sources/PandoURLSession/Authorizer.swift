import Foundation
import PandoRemote

/// Supplies `Authorization` values to requests; refused requests share one refresh.
final class Authorizer: @unchecked Sendable {
  /// A value with the number of refreshes before its closure was called.
  struct Grant: Sendable {
    var value: String?
    var refreshCount: Int
  }

  typealias Authorize = @Sendable (APIResponse?) async throws -> String?

  /// The authorizers whose closure runs in this task; requests that it sends wait for none of them.
  @TaskLocal private static var calling: Set<ObjectIdentifier> = []

  private let authorize: Authorize
  // Sendable because the lock guards the other properties.
  private let lock = NSLock()
  private var refreshCount = 0
  private var lastValue: String?
  private var refresh: SharedCall?

  init(_ authorize: @escaping Authorize) { self.authorize = authorize }

  /// Whether the closure supplies the value of a request sent now.
  var isAsked: Bool { !Self.calling.contains(ObjectIdentifier(self)) }

  /// Returns the value for a request that was not sent yet.
  func grant() async throws -> Grant {
    let (running, count) = lock.withLock { (refresh, refreshCount) }
    if let running, let value = try await running.value() {
      return Grant(value: value.text, refreshCount: count + 1)
    }
    let value = try await call(nil).value()
    return Grant(value: value?.text, refreshCount: count)
  }

  /// Returns the value for a request refused with another one; `nil` if there is none.
  func grant(after refused: Grant, _ answer: APIResponse) async throws -> Grant? {
    while true {
      let (known, running) = lock.withLock { () -> (Grant?, SharedCall?) in
        if refused.refreshCount < refreshCount {
          return (Grant(value: lastValue, refreshCount: refreshCount), nil)
        }
        if refresh == nil || refresh?.isAbandoned == true { refresh = makeRefresh(answer) }
        return (nil, refresh)
      }
      if let known { return known.value == nil ? nil : known }
      // All waiters of that call were cancelled: try again.
      guard let value = try await running?.value() else { continue }
      return value.text.map { Grant(value: $0, refreshCount: refused.refreshCount + 1) }
    }
  }

  private func makeRefresh(_ answer: APIResponse) -> SharedCall {
    let made = call(answer)
    made.onEnd = { [weak self, unowned made] result in
      self?.lock.withLock {
        guard self?.refresh === made else { return }
        self?.refresh = nil
        guard case .success(let text) = result else { return }
        self?.refreshCount += 1
        self?.lastValue = text
      }
    }
    return made
  }

  private func call(_ answer: APIResponse?) -> SharedCall {
    let calling = Self.calling.union([ObjectIdentifier(self)])
    return SharedCall { [authorize] in
      try await Self.$calling.withValue(calling) { try await authorize(answer) }
    }
  }
}

/// A call with several waiters; cancelled when the last waiter is.
final class SharedCall: @unchecked Sendable {
  struct Value: Sendable {
    var text: String?
  }

  // Sendable because the lock guards all variables; `onEnd` is set before the first wait.
  private let lock = NSLock()
  private let body: @Sendable () async throws -> String?
  private var task: Task<Void, Never>?
  private var waiters: [Int: CheckedContinuation<Value?, any Error>] = [:]
  private var waiterCount = 0
  private var end: Result<String?, any Error>?
  private var hasNobody = false
  var onEnd: (@Sendable (Result<String?, any Error>) -> Void)?

  init(_ body: @escaping @Sendable () async throws -> String?) { self.body = body }

  /// Whether all waiters were cancelled.
  var isAbandoned: Bool { lock.withLock { hasNobody } }

  /// Waits for the value; returns `nil` if the call was cancelled before.
  func value() async throws -> Value? {
    let number = lock.withLock {
      waiterCount += 1
      return waiterCount
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let known: Result<Value?, any Error>? = lock.withLock {
          if Task.isCancelled { return .failure(CancellationError()) }
          if let end { return end.map { Value(text: $0) } }
          if hasNobody { return .success(nil) }
          waiters[number] = continuation
          if task == nil { task = Task { [self] in await run() } }
          return nil
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      let (waiter, abandoned) = lock.withLock {
        let waiter = waiters.removeValue(forKey: number)
        if waiter != nil, waiters.isEmpty { hasNobody = true }
        return (waiter, hasNobody ? task : nil)
      }
      abandoned?.cancel()
      waiter?.resume(throwing: CancellationError())
    }
  }

  private func run() async {
    let result: Result<String?, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    onEnd?(result)
    let waiting = lock.withLock {
      end = result
      defer { waiters = [:] }
      return waiters.values.map { $0 }
    }
    for waiter in waiting { waiter.resume(with: result.map { Value(text: $0) }) }
  }
}
