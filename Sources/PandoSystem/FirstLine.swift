/// The first line of a file, cut off after 4096 bytes; `nil` if the file can't be read.
package func firstLine(of file: String) -> String? {
  let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = unsafe read(descriptor, &bytes, bytes.count)
  guard count >= 0 else { return nil }
  return String(decoding: bytes.prefix(count).prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
}
