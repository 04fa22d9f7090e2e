import Pando

/// Writes by providers, which show what they write at once: items, trees, and two lists that all
/// processes edit.
struct ProcessEditor {
  private typealias List = CollectionDataProvider<Models.Item>

  private static let listMaximum = 14

  private let views: ProcessViews
  private let process: Int
  private var choices: Choices
  private let item: DataProvider<Models.Item>
  private let shelf: DataProvider<Models.Shelf>
  private let lists: [(key: String, provider: List)]

  init(_ views: ProcessViews, _ settings: ProcessSettings, _ choices: Choices) async throws {
    self.views = views
    self.choices = choices
    process = settings.process
    let manager = views.manager
    item = DataProvider(dataModelManager: manager)
    shelf = DataProvider(dataModelManager: manager)
    let keys = [LiveNames.sharedList, LiveNames.list(of: ProcessViews.providersGroup)]
    lists = keys.map { ($0, List(dataModelManager: manager)) }
    for (key, provider) in lists { try await provider.fetchDataFromCache(withCacheKey: key) }
  }

  mutating func run(until mustPause: () -> Bool) async throws {
    while !mustPause(), !views.ledger.hasFinding {
      if choices.chance(50) { try await Task.sleep(for: .microseconds(choices.below(9_000))) }
      // The state that a provider shows is ahead of the committed one.
      let writes = (0...choices.below(4)).map { _ in call() }
      for write in writes {
        do {
          try await write.committed()
        } catch let error as DataProviderError
          where error.code == .indexOutOfRange || error.code == .superseded
        {
          // Another process has meanwhile removed the element.
        }
      }
    }
  }

  private mutating func newItem() -> Models.Item {
    Models.Item(
      choices.pick(LiveNames.items(of: ProcessViews.providersGroup)),
      choices.below(1_000_000_000))
  }

  private mutating func call() -> PendingWrite {
    let new = newItem()
    views.ledger.step(process, "calls with \(new.text)")
    switch choices.below(12) {
    case 0: return item.setData(new)
    case 1: return views.manager.updateModel(new)
    case 2: return views.manager.deleteModel(new)
    case 3:
      return shelf.setData(
        Models.Shelf(
          id: .remote(ProcessViews.providersGroup), name: "shelf \(new.number)", books: [new],
          lead: choices.chance(50) ? new : nil))
    case 4:
      return views.manager.updateModel(
        Models.Box(name: ProcessViews.providersGroup, item: new))
    case 5:
      let other = newItem()
      return lists[1].provider.setData(
        other.name == new.name ? [new] : [new, other], cacheKey: lists[1].key)
    default: return edit(lists[choices.below(2)].provider, new)
    }
  }

  private mutating func edit(_ list: List, _ new: Models.Item) -> PendingWrite {
    let count = list.count
    let (place, target) = (choices.below(count + 1), choices.below(max(1, count)))
    if count > Self.listMaximum { return list.remove(at: target..<min(count, target + 6)) }
    switch choices.below(5) {
    case 0: return list.append([new])
    case 1: return list.insert([new], at: place)
    case 2: return list.update(new, at: target)
    case 3: return list.remove(at: target)
    default: return list.move(from: target, to: min(place, max(0, count - 1)))
    }
  }
}
