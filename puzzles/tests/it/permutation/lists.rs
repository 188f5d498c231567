//! Tests of lists of permutations in the forms of GAP.

use crate::permutation::{layers, open};

/// Layers with inverses and without.
fn both(content: &str) -> [Vec<usize>; 2] {
    [("inverses", "true"), ("inverses", "false")]
        .map(|option| layers(&open(content, &[option]).unwrap()))
}

fn names(content: &str) -> Vec<String> {
    open(content, &[]).unwrap().move_names().map(str::to_owned).collect()
}

#[test]
fn a_permutation_continues_on_the_next_line() {
    let undirected = vec![1, 4, 10, 24, 54, 98, 132, 100, 41, 14, 2];
    let directed = vec![1, 2, 4, 8, 14, 26, 44, 72, 89, 84, 74, 46, 14, 2];
    for content in [
        "a:=(1,2,3,4)\n  (7,8,9,10);\nb:=(3,4,5,6);\n",
        "a:=(1,2,3,4)\n(7,8,9,10);\nb:=(3,4,5,6);\n",
        "a := (1,2,\r\n3,4)(7,8,\r\n9,10); # a comment;\r\nb :=\r\n(3,4,5,6);;\r\n",
        "a = (1 2 3 4)\\\n(7 8 9 1\\\n0)\nb = (3 4 5 6)\n",
        "(1,2,3,4)\n  (7,8,9,10),\n(3,4,5,6)\n",
        "[2,3,4,1,5,6,8,9,10,7],\n[1,2,4,5,6,\n3];\n",
        "2,3,4,1,5,6,8,9,10,7,\n1,2,4,5,6,3\n",
        "a=(1,2,3,4)(7,8,9,10); b=(3,4,5,6);",
        "a=(1,2,3,4)(7,8,9,10)\rb=(3,4,5,6)\r",
    ] {
        assert_eq!(both(content), [undirected.clone(), directed.clone()], "{content}");
        assert_eq!(names(content).len(), 2, "{content}");
    }
}

#[test]
fn forms_of_gap_that_are_not_read_are_refused() {
    for (content, message) in [
        (
            "cube := Group(\n  (1,2,3,4),\n  (3,4,5,6)\n);\n",
            "line 1, column 9: expected cycles such as (1,2,3)(4,5), or images, found 'Group(   (1,2,3,4),   (3,4,5,6) )'",
        ),
        (
            "M_A:=(1,2);\nGen:=[\nM_A\n];\n",
            "line 3, column 1: expected a point from 1 to 1024, found 'M_A'",
        ),
        (
            "gap> a := (1,2,3,4);\n(1,2,3,4)\n",
            "line 1, column 1: expected a name without blanks before '=', found 'gap> a'",
        ),
        (
            "a := b*(1,2);\n",
            "line 1, column 6: expected cycles such as (1,2,3)(4,5), or images, found 'b*(1,2)'",
        ),
        ("a := (1,2)*(2,3);\n", "line 1, column 11: expected a cycle in brackets, found '*(2,3)'"),
        (
            "Permutation(3)(0, 1)\nPermutation([1, 2, 3, 0])\n",
            "line 1, column 1: expected cycles such as (1,2,3)(4,5), or images, found 'Permutation(3)(0, 1)'",
        ),
        (
            "[[2,1],[1,2]]\n",
            "line 1, column 1: expected a list that ends with ']', found '[[2,1],[1,2]]'",
        ),
        ("[1,0,2,3]\n", "line 1, column 4: expected a point from 1 to 1024, found '0'"),
    ] {
        let error = open(content, &[]).unwrap_err().to_string();
        assert_eq!(error, format!("file: {message}"), "{content}");
    }
}

#[test]
fn malformed_lists_are_refused_with_the_place() {
    for (content, message) in [
        (
            "a=(1,2);\n(3,4);\n",
            "line 2, column 1: expected a name and '=', which other permutations have, found '(3,4)'",
        ),
        (
            "a=(1,2)\n\n(3,4)\n",
            "line 3, column 1: expected a name and '=', which other permutations have, found '(3,4)'",
        ),
        (
            "a=(1,2);\nb=(3,4)\n",
            "line 2, column 1: expected ';' after this permutation, as after others",
        ),
        (
            "a=(1,2)\nb=(3,4);\n",
            "line 2, column 1: expected ';' or ',' before 'b=(3,4);': other permutations have an end; a line that continues one without a name begins with blanks",
        ),
        (
            "(1,2);\n(3,4)\n(5,6);\n",
            "line 3, column 1: expected ';' or ',' before '(5,6);': other permutations have an end; a line that continues one without a name begins with blanks",
        ),
        ("(1,2) (3,,4)\n", "line 1, column 10: expected a point from 1 to 1024, found ''"),
        ("(1,2,)\n", "line 1, column 6: expected a point from 1 to 1024, found ''"),
        ("(1,2 3)\n", "line 1, column 6: expected ',' between points, found '3'"),
        ("(1,+2)\n", "line 1, column 4: expected a point from 1 to 1024, found '+2'"),
        ("a=[]\nb=(1,2)\n", "line 1, column 3: expected the numbers from 1 to 1 in any order"),
        ("a=(1,2)\nb\0=(2,3)\n", "line 2, column 2: a control character (U+0000)"),
        ("a=(1,2)\u{c}\n", "line 1, column 8: a control character (U+000C)"),
        ("{\"name\":\0}", "line 1, column 9: a control character (U+0000)"),
        ("Name a\nSet\u{b}A 2 1\n", "line 2, column 4: a control character (U+000B)"),
    ] {
        let error = open(content, &[]).unwrap_err().to_string();
        assert_eq!(error, format!("file: {message}"), "{content}");
    }
}
