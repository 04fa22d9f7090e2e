import PandoSystem

extension InMemoryStore: FollowedMemory {
  func connect(_ feed: MemoryFeed<E>) {
    state.withLock { state in
      state.feeds.removeAll { $0.feed == nil }
      state.feeds.append(WeakFeed(feed: feed))
    }
  }

  func withPresent(_ body: ([RankedEntity<E>], UInt64) -> Void) {
    state.withLock { state in
      body(state.entries.values.map { RankedEntity($0.entity, rank: $0.rank) }, state.place)
    }
  }

  func shown() async {
    for feed in state.withLock({ $0.feeds.compactMap(\.feed) }) { await feed.shown() }
  }
}
