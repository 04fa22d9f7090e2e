/// Finds the longest chain of pairs that ascends in both lists.
struct CommonChains {
  private struct Link {
    let old: Int32
    let new: Int32
    let previous: Int32
  }

  private var links: [Link] = []
  /// The last links of the best chains, by length; their new positions ascend.
  private var ends: [Int32] = []

  /// Takes another pair.
  ///
  /// - Parameters:
  ///   - old: Not below the one offered before.
  ///   - new: For the same `old`, below the one offered before.
  mutating func offer(old: Int, new: Int32) {
    var length = ends.count
    if let last = ends.last, links[Int(last)].new >= new { length = shortest(reaching: new) }
    let previous = length > 0 ? ends[length - 1] : -1
    let number = Int32(links.count)
    if length == ends.count {
      ends.append(number)
    } else if links[Int(ends[length])].new > new {
      ends[length] = number
    } else {
      return
    }
    links.append(Link(old: Int32(old), new: new, previous: previous))
  }

  /// The pairs of the longest chain, in descending order.
  func longest() -> [(old: Int, new: Int)] {
    var pairs: [(old: Int, new: Int)] = []
    pairs.reserveCapacity(ends.count)
    var number = ends.last ?? -1
    while number >= 0 {
      let link = links[Int(number)]
      pairs.append((Int(link.old), Int(link.new)))
      number = link.previous
    }
    return pairs
  }

  private func shortest(reaching new: Int32) -> Int {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if links[Int(ends[middle])].new >= new { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
