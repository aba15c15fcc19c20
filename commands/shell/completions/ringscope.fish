# Completion of ringscope for fish, made by 'ringscope completions fish'.
function __ringscope_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] __complete -- $typed[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c ringscope -f -a '(__ringscope_complete)'
