/// How a value that JSON has no word for is written as JSON.
public enum JSONForm: Hashable, Sendable {
  /// JSON for people and other programs.
  ///
  /// A node is its fields, bytes are base64, a UUID, a URL and a decimal number look as usual, a
  /// double that is no number is the text `NaN`, `Infinity` or `-Infinity`. A node that is only
  /// named is `{"$reference": [identifier, type]}`. What has no usual look is written as in
  /// ``lossless``. Reading takes the JSON as it stands and makes no node.
  case plain

  /// JSON that reads back as exactly the same value.
  ///
  /// What JSON cannot say is an object with one name that begins with `$`:
  ///
  /// | JSON | value |
  /// |---|---|
  /// | `{"$bytes": "…"}` | ``TreeValue/bytes(_:)`` in base64 |
  /// | `{"$double": "7ff8000000000000"}` | a ``TreeValue/double(_:)`` that is not finite, its bits |
  /// | `{"$entries": [[key, value], …]}` | ``TreeValue/entries(_:)`` |
  /// | `{"$node": [identifier, type, fields]}` | ``TreeValue/node(_:)`` |
  /// | `{"$reference": [identifier, type]}` | ``TreeValue/reference(identifier:typeName:)`` |
  /// | `{"$required": value}` | ``TreeValue/required(_:)`` |
  /// | `{"$tagged": [tag, value]}` | ``TreeValue/tagged(_:_:)`` |
  ///
  /// A field whose own name begins with `$` is written with a second `$` in front.
  case lossless
}
