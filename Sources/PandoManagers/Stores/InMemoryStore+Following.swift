import PandoSystem

extension InMemoryStore: FollowedMemory {
  func connect(_ feed: MemoryFeed<E>) {
    state.withLock { $0.feeds.append(feed) }
  }

  func withPresent(_ body: ([RankedEntity<E>], UInt64) -> Void) {
    state.withLock { state in
      body(state.entries.values.map { RankedEntity($0.entity, rank: $0.rank) }, state.place)
    }
  }

  func shown() async {
    for feed in state.withLock({ $0.feeds.objects }) { await feed.shown() }
  }
}
