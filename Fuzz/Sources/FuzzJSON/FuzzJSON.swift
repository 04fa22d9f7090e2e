import CFuzzer
import Pando

/// Arbitrary bytes as JSON in both forms.
///
/// Accepted JSON is written again and reads as the same value. The error of refused JSON names a line
/// and a column.
@main enum FuzzJSON {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
      FuzzJSON.check(Array(UnsafeBufferPointer(start: data, count: size)))
      return 0
    }
  }

  static func check(_ bytes: [UInt8]) {
    for form in [JSONForm.plain, .lossless] {
      let value: TreeValue
      do {
        value = try TreeValue(json: bytes.span, form: form)
      } catch {
        precondition(error.line >= 1 && error.column >= 1, "an error without a place: \(error)")
        continue
      }
      let text = value.json(form)
      guard let again = try? TreeValue(json: text, form: form) else {
        preconditionFailure("what was written does not read: \(text)")
      }
      precondition(again == value, "read again it is another value: \(text)")
    }
  }
}
