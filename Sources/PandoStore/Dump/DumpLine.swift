import PandoModels

/// One line of a dump: JSON in the lossless form, one object each.
///
/// ```
/// {"pando":"dump","format":1,"commit":12,"store":"…"}                          first line
/// {"type":"Person","schemaVersion":2}
/// {"type":"Book","schemaVersion":0,"indexes":["title",["genre","year"],{"unique":["isbn"]}]}
/// {"type":"User","schemaVersion":0,"indexes":[{"fields":["name"],"fallbacks":[{"$bytes":"…"}]}]}
/// {"rules":"Book","value":"owned reviews"}
/// {"property":"import.mapping","value":{"$bytes":"…"}}
/// {"node":"Person:12","isAskedFor":true,"records":[["Person",7,{"name":"Ada"}]]}   type, commit, body
/// {"collection":"contacts","elements":[{"$reference":["Person:12","Person"]}]}
/// {"collection":"contacts","elements":[…],"continues":true}
/// {"end":1,"nodes":1,"collections":1}                                          last line
/// ```
///
/// Nodes are sorted by identifier, collections by key, so that equal stores have equal dumps. A
/// dump without its last line was truncated.
enum DumpLine {
  /// The version of the dump format.
  static let format: Int64 = 1
  /// The most elements of one line, to bound its length.
  static let elementsPerLine = 1000

  case header(commitNumber: UInt64)
  /// `newestVersion` is that of the programs that wrote the type, if no migration has reached it.
  case type(
    name: String, schemaVersion: UInt32, indexes: [ModelIndex] = [], newestVersion: UInt32? = nil)
  case rules(typeName: String, text: String)
  case property(name: String, value: [UInt8])
  case node(identifier: String, isAskedFor: Bool, records: [Record])
  case collection(cacheKey: String, elements: [TreeValue], continues: Bool)
  case end(nodeCount: Int, collectionCount: Int)

  struct Record {
    let typeName: String
    let commitNumber: UInt64
    let fields: TreeValue
  }
}

extension DumpLine {
  /// The line as text, without a line break.
  var text: String { value.json(.lossless) }

  private var value: TreeValue {
    switch self {
    case .header(let commitNumber):
      [
        "pando": "dump", "format": .integer(Self.format),
        "commit": .integer(Int64(clamping: commitNumber)),
      ]
    case .type(let name, let version, let indexes, let newestVersion):
      Self.value(name, version, indexes, newestVersion)
    case .rules(let name, let text): ["rules": .string(name), "value": .string(text)]
    case .property(let name, let value): ["property": .string(name), "value": .bytes(value)]
    case .node(let identifier, let isAskedFor, let records):
      [
        "node": .string(identifier), "isAskedFor": .bool(isAskedFor),
        "records": .array(
          records.map { record in
            .array([
              .string(record.typeName), .integer(Int64(clamping: record.commitNumber)),
              record.fields,
            ])
          }),
      ]
    case .collection(let cacheKey, let elements, let continues):
      [
        "collection": .string(cacheKey), "elements": .array(elements),
        "continues": .bool(continues),
      ]
    case .end(let nodeCount, let collectionCount):
      [
        "end": .integer(1), "nodes": .integer(Int64(nodeCount)),
        "collections": .integer(Int64(collectionCount)),
      ]
    }
  }

  /// Reads a line.
  ///
  /// - Throws: `JSONError` for a text that is not JSON; ``StoreError`` `invalidDump` for one that
  ///   is not a line of a dump.
  init(_ text: String, number: Int) throws {
    let value = try TreeValue(json: text, form: .lossless)
    guard let line = try Self.line(value, number) else {
      throw Self.invalid(number, "it is no line of a dump")
    }
    self = line
  }

  static func invalid(_ number: Int, _ reason: String) -> StoreError {
    StoreError(.invalidDump, "line \(number)", "\(reason); nothing was loaded")
  }

  private static func line(_ value: TreeValue, _ number: Int) throws -> DumpLine? {
    if value["pando"]?.stringValue == "dump" {
      guard let commit = value["commit"]?.integerValue, commit >= 0 else { return nil }
      guard value["format"]?.integerValue == format else {
        throw invalid(number, "the dump is of another format than \(format)")
      }
      return .header(commitNumber: UInt64(commit))
    }
    if let name = value["type"]?.stringValue {
      guard let version = value["schemaVersion"]?.integerValue,
        let version = UInt32(exactly: version)
      else { return nil }
      let given = value["indexes"].map(\.arrayValue) ?? []
      guard let indexes = given?.map({ index($0, ofType: name) }), !indexes.contains(nil) else {
        return nil
      }
      return .type(
        name: name, schemaVersion: version, indexes: indexes.compactMap { $0 },
        newestVersion: value["newestVersion"]?.integerValue.flatMap { UInt32(exactly: $0) })
    }
    if let name = value["rules"]?.stringValue {
      return value["value"]?.stringValue.map { .rules(typeName: name, text: $0) }
    }
    if let name = value["property"]?.stringValue {
      return value["value"]?.bytesValue.map { .property(name: name, value: $0) }
    }
    if let identifier = value["node"]?.stringValue {
      guard let isAskedFor = value["isAskedFor"]?.boolValue,
        let records = value["records"]?.arrayValue?.map(record)
      else { return nil }
      let complete = records.compactMap { $0 }
      guard complete.count == records.count, !complete.isEmpty else { return nil }
      return .node(identifier: identifier, isAskedFor: isAskedFor, records: complete)
    }
    if let cacheKey = value["collection"]?.stringValue {
      guard let elements = value["elements"]?.arrayValue,
        let continues = value["continues"]?.boolValue
      else { return nil }
      return .collection(cacheKey: cacheKey, elements: elements, continues: continues)
    }
    guard value["end"] != nil, let nodes = value["nodes"]?.integerValue,
      let collections = value["collections"]?.integerValue
    else { return nil }
    return .end(nodeCount: Int(nodes), collectionCount: Int(collections))
  }

  private static func value(
    _ name: String, _ version: UInt32, _ indexes: [ModelIndex], _ newestVersion: UInt32?
  ) -> TreeValue {
    var fields: [String: TreeValue] = [
      "type": .string(name), "schemaVersion": .integer(Int64(version)),
    ]
    if !indexes.isEmpty { fields["indexes"] = .array(indexes.map(value)) }
    if let newestVersion { fields["newestVersion"] = .integer(Int64(newestVersion)) }
    return .object(fields)
  }

  /// An index: its field, or a list of several; in an object under `unique` if it is unique.
  ///
  /// With former names or defaults, it is an object with `fallbacks`: bytes for each field. With totals, it is
  /// one with `sums`: their names, and `sumFallbacks`.
  private static func value(_ index: ModelIndex) -> TreeValue {
    let fields = TreeValue.array(index.fields.map { .string($0) })
    var object: [String: TreeValue] = [:]
    if !index.fallbacks.isEmpty {
      object["fallbacks"] = .array(index.fallbacks.map { .bytes($0) })
    }
    if let sums = index.sums {
      object["sums"] = .array(sums.map { .string($0) })
      if !index.sumFallbacks.isEmpty {
        object["sumFallbacks"] = .array(index.sumFallbacks.map { .bytes($0) })
      }
    }
    if !object.isEmpty {
      object[index.isUnique ? "unique" : "fields"] = fields
      return .object(object)
    }
    return index.isUnique
      ? ["unique": fields] : index.fields.count == 1 ? .string(index.field) : fields
  }

  private static func index(_ value: TreeValue, ofType typeName: String) -> ModelIndex? {
    if let field = value.stringValue { return ModelIndex(typeName: typeName, field: field) }
    let unique = value["unique"]
    guard let fields = texts(unique ?? value["fields"] ?? value) else { return nil }
    let sums = value["sums"].map { texts($0) }
    if case .some(.none) = sums { return nil }
    var index = ModelIndex(
      typeName: typeName, fields: fields, isUnique: unique != nil, sums: sums ?? nil)
    if let fallbacks = value["fallbacks"] {
      index.fallbacks = fallbacks.arrayValue?.compactMap(\.bytesValue) ?? []
      if index.fallbacks.count != fields.count { return nil }
    }
    if let fallbacks = value["sumFallbacks"] {
      index.sumFallbacks = fallbacks.arrayValue?.compactMap(\.bytesValue) ?? []
      if index.sumFallbacks.count != index.sums?.count { return nil }
    }
    return index
  }

  private static func texts(_ value: TreeValue) -> [String]? {
    guard let texts = value.arrayValue?.map(\.stringValue), !texts.contains(nil) else { return nil }
    return texts.compactMap(\.self)
  }

  private static func record(_ value: TreeValue) -> Record? {
    guard let parts = value.arrayValue, parts.count == 3, let typeName = parts[0].stringValue,
      let commit = parts[1].integerValue, commit >= 0
    else { return nil }
    return Record(typeName: typeName, commitNumber: UInt64(commit), fields: parts[2])
  }
}
