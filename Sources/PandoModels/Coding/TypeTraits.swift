/// What the coder must know of a type, found once and kept for the life of the process.
///
/// Asking the runtime whether a type conforms to a protocol costs more than encoding a small field;
/// metatypes with their conformances cost nothing to keep.
struct TypeTraits {
  /// The type, if its values are nodes when they have an identifier.
  let model: (any Model.Type)?
  /// The type, if it is a model of any kind.
  let simpleModel: (any SimpleModel.Type)?
  /// The type, if this module encodes it itself.
  let encodable: (any RecordEncodable.Type)?
  /// The type, if this module decodes it itself.
  let decodable: (any RecordDecodable.Type)?
  /// The type, if it reads and writes its fields itself.
  let fields: (any FieldCodable.Type)?
  /// The type, if it reads itself from one item.
  let item: (any RecordItemDecodable.Type)?
  /// The type, if it declares defaults or former names of fields.
  let schema: (any SchemaVersioned.Type)?
  /// Where the fields of its values are, if it reads them itself.
  let hints: FieldHints?
  /// Whether values may be of a type derived from it.
  let isClass: Bool
  /// Whether values of it have places for children, if they are nodes when they have an identifier.
  let childPlaces: ChildPlaces?

  init(of type: Any.Type) {
    model = type as? any Model.Type
    simpleModel = type as? any SimpleModel.Type
    encodable = type as? any RecordEncodable.Type
    decodable = type as? any RecordDecodable.Type
    fields = type as? any FieldCodable.Type
    item = type as? any RecordItemDecodable.Type
    schema = type as? any SchemaVersioned.Type
    hints = decodable == nil ? FieldHints() : nil
    isClass = type is AnyClass
    childPlaces = model == nil ? nil : ChildPlaces()
  }

  /// Whether values of the type are stored whole: a simple model's parts are never nodes.
  var isWhole: Bool { simpleModel != nil && model == nil }
}
