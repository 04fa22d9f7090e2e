import PandoModels

/// How fields flow, for values whose slots have the same kind in every type.
enum ReferenceMerge {
  /// All given fields take the place of the old ones.
  static func update(_ old: TreeValue, with given: TreeValue) -> TreeValue {
    .object(
      (old.objectValue ?? [:]).merging(given.objectValue ?? [:]) { _, new in new })
  }

  /// Fields that both have flow; children stay what the old type meant them to be.
  static func project(_ new: TreeValue, into old: TreeValue) -> TreeValue {
    let given = new.objectValue ?? [:]
    var fields = old.objectValue ?? [:]
    for (name, value) in fields {
      guard let newer = given[name] else { continue }
      fields[name] = fit(newer, to: types(in: value))
    }
    return .object(fields)
  }

  /// Which type the children of each slot have; slots are told by the names on the way to them.
  private static func types(in value: TreeValue) -> [String: String] {
    var found: [String: String] = [:]
    collect(value, "", &found)
    return found
  }

  private static func collect(_ value: TreeValue, _ path: String, _ found: inout [String: String]) {
    switch value {
    case .reference(_, let typeName): found[path] = typeName
    case .required(let inner): collect(inner, path, &found)
    case .array(let elements):
      for element in elements { collect(element, "\(path)/", &found) }
    case .object(let fields):
      for (name, field) in fields { collect(field, "\(path).\(name)", &found) }
    case .entries(let entries):
      for key in entries.keys.sorted(by: { ($0.stringValue ?? "") < ($1.stringValue ?? "") }) {
        entries[key].map { collect($0, "\(path)/", &found) }
      }
    default: break
    }
  }

  private static func fit(
    _ value: TreeValue, to types: [String: String], _ path: String = ""
  ) -> TreeValue {
    switch value {
    case .reference(let identifier, let typeName):
      .reference(identifier: identifier, typeName: types[path] ?? typeName)
    case .required(let inner): .required(fit(inner, to: types, path))
    case .array(let elements): .array(elements.map { fit($0, to: types, "\(path)/") })
    case .object(let fields):
      .object(
        Dictionary(
          uniqueKeysWithValues: fields.map { ($0, fit($1, to: types, "\(path).\($0)")) }))
    case .entries(let entries): .entries(entries.mapValues { fit($0, to: types, "\(path)/") })
    default: value
    }
  }
}
