import CPandoLMDB
import PandoSystem

/// Opens a file beside a data file for reading and writing; creates it if absent.
///
/// A new file gets the owner, group and permissions of the data file, as far as this process may
/// set them. So a command run by root leaves no file that the service can't open. The owner can
/// always read and write it. An existing file stays unchanged.
///
/// - Parameters:
///   - name: The name of the file.
///   - folder: The folder of the environment.
///   - mode: The permissions of a new file without a data file.
/// - Returns: The open file; -1 with an error number in `errno`.
package func openBesideData(_ name: String, in folder: String, mode: UInt32) -> CInt {
  let path = "\(folder)/\(name)"
  // Another process may create or remove it in between.
  for _ in 0..<3 {
    let found = retryInterrupted { unsafe open(path, O_RDWR | O_CLOEXEC) }
    if found >= 0 || errno != ENOENT { return found }
    let made = retryInterrupted { unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
    if made >= 0 {
      followData(made, "\(folder)/\(DataFile.name)")
      return made
    }
    if errno != EEXIST { return made }
  }
  return retryInterrupted { unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode) }
}

/// Gives a new file the owner, the group and the permissions of the data file.
private func followData(_ descriptor: CInt, _ dataPath: String) {
  var (data, own) = (stat(), stat())
  guard unsafe stat(dataPath, &data) == 0, unsafe fstat(descriptor, &own) == 0 else { return }
  if data.st_uid != own.st_uid || data.st_gid != own.st_gid {
    // A process that may not change the owner may still set the group.
    if fchown(descriptor, data.st_uid, data.st_gid) != 0 {
      fchown(descriptor, own.st_uid, data.st_gid)
    }
  }
  fchmod(descriptor, data.st_mode & 0o777 | 0o600)
}

/// Renames a file, unless a file has the new name.
///
/// - Parameters:
///   - path: The old name.
///   - newPath: The new name, on the same disk.
/// - Returns: 0; -1 with an error number in `errno`, `EEXIST` if a file has the name.
package func renameUnlessTaken(_ path: String, _ newPath: String) -> CInt {
  if unsafe pando_rename_new(path, newPath) == 0 { return 0 }
  // Some file systems can't check and rename in one step.
  guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return -1 }
  var status = stat()
  if unsafe lstat(newPath, &status) == 0 {
    errno = EEXIST
    return -1
  }
  return unsafe rename(path, newPath)
}
