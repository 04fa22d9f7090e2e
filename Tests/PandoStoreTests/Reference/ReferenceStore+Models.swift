import PandoModels

extension ReferenceStore {
  /// A node as a Swift type reads it: each child as the type of its property, whatever type the
  /// record means it as.
  func modelTree(_ identifier: String, as type: String) -> TreeNode? {
    guard let shown = shownType(of: identifier, meantAs: type),
      let fields = nodes[identifier]?.records[shown]?.fields, let slots = TreeMaker.slots[type]
    else { return nil }
    return TreeNode(identifier, type: type, fields: read(fields, as: .parts(slots)))
  }

  private func read(_ value: TreeValue, as slot: TreeMaker.Slot) -> TreeValue {
    switch (value, slot) {
    case (.reference(let identifier, _), .child(let type, _)),
      (.reference(let identifier, _), .list(let type)),
      (.reference(let identifier, _), .map(let type)):
      modelTree(identifier, as: type).map { .node($0) } ?? value
    case (.required(let inner), _): .required(read(inner, as: slot))
    case (.array(let elements), _): .array(elements.map { read($0, as: slot) })
    case (.entries(let entries), _): .entries(entries.mapValues { read($0, as: slot) })
    case (.object(let fields), .inner(let slots, _)), (.object(let fields), .parts(let slots)):
      .object(
        Dictionary(
          uniqueKeysWithValues: fields.map { name, field in
            (name, slots[name].map { read(field, as: $0) } ?? field)
          }))
    default: value
    }
  }
}
