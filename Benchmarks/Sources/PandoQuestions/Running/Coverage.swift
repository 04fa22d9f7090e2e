/// Counts the pairs of kinds that occurred together in one question.
struct Coverage {
  private var pairs: Set<String> = []
  private var kinds: [Int: Set<String>] = [:]

  mutating func add(_ plan: Plan) {
    let indexes =
      (plan.indexes.isEmpty ? ["no index"] : plan.indexes.map(\.kind))
      + (plan.laterIndexes == nil ? [] : ["other indexes later"])
    let changes = plan.commits.flatMap { commit in
      commit.map(\.kind) + (commit.count > 1 ? ["many"] : [])
    }
    for asked in plan.asked {
      let measure =
        asked.asking?.measureKind ?? asked.deliveryKind
      let form = asked.asking?.formKind ?? "ungrouped"
      let dimensions = [
        [measure], [form], [asked.asking?.grouping.rawValue ?? "items"],
        [asked.selection.condition.kind], [asked.selection.orderKind],
        [asked.selection.windowKind], indexes, changes, [plan.writer.rawValue],
      ]
      for (place, values) in dimensions.enumerated() {
        kinds[place, default: []].formUnion(values)
        for (other, others) in dimensions.enumerated() where other > place {
          for value in values {
            for second in others { pairs.insert("\(place)\(value)|\(other)\(second)") }
          }
        }
      }
    }
  }

  /// So many pairs of all that the kinds make; some exclude each other.
  var text: String {
    let counts = kinds.sorted { $0.key < $1.key }.map(\.value.count)
    var all = 0
    for place in counts.indices {
      for other in counts.indices where other > place { all += counts[place] * counts[other] }
    }
    return "\(pairs.count) of \(all) pairs"
  }
}

extension Plan.Asked {
  fileprivate var deliveryKind: String {
    switch delivery {
    case .items: "items"
    case .changes: "changes"
    case .keys: "keys"
    case .heldBy: "held by"
    }
  }
}
