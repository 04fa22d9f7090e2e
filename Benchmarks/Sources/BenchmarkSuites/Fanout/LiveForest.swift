import Foundation
import Pando
import Synchronization

/// Live providers, one for each of many trees.
final class LiveForest<Post: LivePost>: Sendable {
  let manager: DataModelManager
  let providers: [DataProvider<Post>]
  let posts: [Post]
  private let counter = CallCounter()

  /// Makes trees and providers that show nothing yet.
  ///
  /// - Parameters:
  ///   - type: The type of the trees.
  ///   - count: How many.
  ///   - sharesAuthor: Whether all trees hold the same author, or each its own.
  init(_ type: Post.Type, count: Int, sharesAuthor: Bool) {
    let counter = counter
    let posts = (0..<count).map { number in
      Post(
        identifier: "post:\(number)", number: 0,
        author: LiveAuthor(identifier: "author:\(sharesAuthor ? 0 : number)", number: 0))
    }
    self.posts = posts
    let keys = posts.compactMap { post in post.modelIdentifier.map { ($0, post) } }
    let manager = DataModelManager(
      cacheDelegate: PostCache(posts: Dictionary(uniqueKeysWithValues: keys)))
    self.manager = manager
    providers = (0..<count).map { _ in
      let provider = DataProvider<Post>(dataModelManager: manager)
      provider.delegate = counter
      return provider
    }
  }

  /// Lets each provider set its tree, and waits until all are registered.
  func registerBySetting() {
    for (provider, post) in zip(providers, posts) { provider.setData(post) }
    drain()
  }

  /// Lets each provider fetch its tree from the cache, and waits until all are registered.
  func registerByFetching() {
    let fetched = FetchCounter(count: providers.count)
    for (provider, post) in zip(providers, posts) {
      provider.fetchDataFromCache(withCacheKey: post.modelIdentifier) { _, _ in fetched.count() }
    }
    fetched.wait()
    drain()
  }

  /// Waits until everything that is queued is done.
  func drain() {
    let manager = manager
    waitUntilDone { await manager.drain() }
  }

  /// Makes a change and waits until the delegates of so many providers have been called.
  func change(tells count: Int, _ body: () -> Void) {
    counter.expect(count)
    body()
    counter.wait()
  }

  /// A sum over what all providers show.
  var checksum: UInt64 {
    providers.reduce(0) { sum, provider in
      guard let post = provider.data else { return sum }
      return sum &* 31 &+ UInt64(post.number + 1_000 * post.author.number)
    }
  }
}

/// Counts calls until there were as many as expected.
final class CallCounter: DataProviderDelegate {
  private let missing = Atomic(0)
  private let done = DispatchSemaphore(value: 0)

  func expect(_ count: Int) { missing.store(count, ordering: .sequentiallyConsistent) }

  func wait() { done.wait() }

  func dataProviderHasUpdatedData<T>(
    _ dataProvider: DataProvider<T>, context: (any Sendable)?
  ) {
    if missing.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 { done.signal() }
  }
}

/// Counts answers to fetches.
private final class FetchCounter: Sendable {
  private let missing: Atomic<Int>
  private let done = DispatchSemaphore(value: 0)

  init(count: Int) { missing = Atomic(count) }

  func count() {
    if missing.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 { done.signal() }
  }

  func wait() { done.wait() }
}

/// Runs asynchronous work from a thread that may block.
func waitUntilDone(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}
