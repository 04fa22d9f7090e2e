public import PandoModels
public import PandoStore

extension ModelStore {
  /// Follows a list.
  ///
  /// Use it to show a list. Use a ``CollectionDataProvider`` to change one too, or for the changes of a list.
  ///
  /// ```swift
  /// for try await songs in store.follow(list: "favourites", as: Song.self) { show(songs) }
  /// ```
  /// Each iteration keeps the elements. An element that can't be decoded is left out.
  ///
  /// - Parameters:
  ///   - key: The key of the list.
  ///   - type: The type of its elements.
  /// - Returns: The present elements, and the elements after each change of the list or of one of them; none
  ///   while there is no list.
  public func follow<M: SimpleModel>(
    list key: String, as type: M.Type = M.self
  ) -> FollowedSequence<[M]> { FollowedSequence(FollowedList(store: self, key: key)) }
}

/// A list of a store, with a provider for each iteration.
private struct FollowedList<M: SimpleModel>: ObservationSource {
  let store: ModelStore
  let key: String

  func makeObserver() -> any Observer<[M]> { Iteration(list: self) }

  private struct Iteration: Observer {
    let list: FollowedList
    /// Kept alive: it ends its sequence when it is released.
    private var provider: CollectionDataProvider<M>?
    private var values: FollowedSequence<[M]>.AsyncIterator?
    private var hasEnded = false

    init(list: FollowedList) { self.list = list }

    mutating func next(isolation: isolated (any Actor)?) async throws -> [M]? {
      if hasEnded { return nil }
      do {
        if values == nil { try await begin() }
        if let models = try await values?.next(isolation: isolation) { return models }
      } catch {
        end()
        throw error
      }
      end()
      return nil
    }

    private mutating func begin() async throws {
      let manager = try DataModelManager(store: list.store)
      let provider = CollectionDataProvider<M>(dataModelManager: manager)
      do {
        try await provider.fetchDataFromCache(withCacheKey: list.key)
      } catch is CancellationError {
        return
      }
      self.provider = provider
      values = provider.values.makeAsyncIterator()
    }

    private mutating func end() {
      hasEnded = true
      values = nil
      provider = nil
    }
  }
}
